"""Which database `make run` shows, on a server of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
from django.db import connection

from config import environment, showing
from config.folders import DataFolder

NAME = "showing_here"


def url(database: str, user: str = "") -> str:
    """Give the address of a database on the tests' server."""
    given = connection.settings_dict
    host = given["HOST"] or given["OPTIONS"].get("host", "")
    parts = urlsplit(f"postgres://{user or given['USER']}@/{database}")
    return urlunsplit(parts._replace(query=f"host={host}" if host.startswith("/") else "")).replace(
        "@/", f"@{'' if host.startswith('/') else host}/"
    )


def choose(tmp_path: Path, **variables: str) -> showing.Shown:
    found = environment.read(variables)
    assert not found.problems
    return showing.choose(found, DataFolder(tmp_path))


@pytest.fixture
def server(db: None) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    with psycopg.connect(url("postgres"), autocommit=True) as one:
        for name in (NAME, f"{NAME}_demo"):
            one.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        one.execute("DROP ROLE IF EXISTS showing_poor")
        one.execute("CREATE ROLE showing_poor LOGIN")
        one.execute(f"CREATE DATABASE {NAME}".encode())
        yield one
        for name in (NAME, f"{NAME}_demo"):
            one.execute(f"DROP DATABASE IF EXISTS {name}".encode())
        one.execute("DROP ROLE showing_poor")


def has_demo(server: psycopg.Connection[tuple[object, ...]]) -> bool:
    return server.execute("SELECT FROM pg_database WHERE datname = %s", [f"{NAME}_demo"]).fetchone() is not None


def test_with_nothing_connected_a_demo_stands_beside_it(
    server: psycopg.Connection[tuple[object, ...]], tmp_path: Path
) -> None:
    for _ in range(2):  # made once, found again
        shown = choose(tmp_path, DATABASE_URL=url(NAME))
        assert shown.is_demo
        assert f"(database {NAME}_demo)" in shown.line
    assert has_demo(server)


@pytest.mark.parametrize("table", ["fleet_source", "fleet_account"])
def test_no_demo_once_something_is_connected(
    server: psycopg.Connection[tuple[object, ...]], tmp_path: Path, table: str
) -> None:
    with psycopg.connect(url(NAME), autocommit=True) as real:
        real.execute(f"CREATE TABLE {table} (name text)".encode())
        assert choose(tmp_path, DATABASE_URL=url(NAME)).is_demo
        real.execute(f"INSERT INTO {table} VALUES ('main')".encode())
    assert choose(tmp_path, DATABASE_URL=url(NAME)) == showing.Shown(is_demo=False)


@pytest.mark.parametrize(
    "variables", [{"PROMETHEUS_URL": "http://prometheus:9090"}, {"FLEETLEDGER_DEMO": "off"}], ids=["source", "off"]
)
def test_the_environment_can_say_no(
    server: psycopg.Connection[tuple[object, ...]], tmp_path: Path, variables: dict[str, str]
) -> None:
    assert choose(tmp_path, DATABASE_URL=url(NAME), **variables) == showing.Shown(is_demo=False)
    assert not has_demo(server)


def test_a_wish_for_the_demo_is_less_than_a_source(
    server: psycopg.Connection[tuple[object, ...]], tmp_path: Path
) -> None:
    shown = choose(tmp_path, DATABASE_URL=url(NAME), FLEETLEDGER_DEMO="on", PROMETHEUS_URL="http://prometheus:9090")
    assert not shown.is_demo


def test_who_may_not_make_a_database_is_told_in_a_line(
    server: psycopg.Connection[tuple[object, ...]], tmp_path: Path
) -> None:
    shown = choose(tmp_path, DATABASE_URL=url(NAME, "showing_poor"))
    assert shown == showing.Shown(
        is_demo=False,
        line="No demo fleet: its database can't be made (permission denied to create database).",
    )
    assert not has_demo(server)


def test_a_database_that_does_not_answer_is_no_reason_for_a_demo(tmp_path: Path) -> None:
    assert choose(tmp_path, DATABASE_URL="postgres://nobody@127.0.0.1:9/x") == showing.Shown(is_demo=False)
