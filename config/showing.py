"""Which database `make run` shows: the demo fleet's only while neither the environment nor the real one has a source.

The demo's database stands beside the real one, so nothing of the one can ever be in the other. No Django.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import environ
import psycopg
from psycopg import sql

from config.embedded.cluster import APP, DATABASE, DEMO_SUFFIX, OWNER, SUPERUSER, password_file
from config.embedded.server import socket_folder
from config.environment import Environment
from config.folders import DataFolder

SECONDS_TO_CONNECT = 10


@dataclass(frozen=True)
class Shown:
    """``line``: what the person at the terminal should know, empty when there is nothing to say."""

    is_demo: bool
    line: str = ""


def choose(found: Environment, folder: DataFolder) -> Shown:
    """Choose, and make the demo's database where it is wanted and missing. Any doubt means the real one."""
    if found.get("FLEETLEDGER_DEMO") == "off" or found.is_set("PROMETHEUS_URL"):
        return Shown(is_demo=False)
    try:
        if is_connected(found, folder):
            return Shown(is_demo=False)
    except psycopg.Error:
        return Shown(is_demo=False)  # preparing it says what is wrong
    try:
        name = _make_embedded(folder) if found.uses_embedded_engine else _make_beside(found)
    except psycopg.Error as error:
        reason = str(error).strip().splitlines()[0]
        return Shown(is_demo=False, line=f"No demo fleet: its database can't be made ({reason}).")
    return Shown(
        is_demo=True,
        line=f"Nothing is connected yet: this is the demo fleet (database {name}). To see your own, start with "
        "PROMETHEUS_URL=http://... make run, or apply a fleet.yaml and start again.",
    )


def is_connected(found: Environment, folder: DataFolder) -> bool:
    """Say whether the real database has a source, or an account. Raises psycopg.Error when it can't be asked."""
    with closing(_connect(_real(found, folder))) as connection:
        return any(_has_rows(connection, table) for table in ("fleet_source", "fleet_account"))


def _has_rows(connection: psycopg.Connection[Any], table: str) -> bool:
    there = connection.execute("SELECT to_regclass(%s) IS NOT NULL", [table]).fetchone()
    if there is None or not there[0]:
        return False  # not migrated yet
    query = sql.SQL("SELECT EXISTS (SELECT FROM {})").format(sql.Identifier(table))
    found = connection.execute(query).fetchone()
    return found is not None and bool(found[0])


def _connect(parameters: dict[str, Any]) -> psycopg.Connection[Any]:
    return psycopg.connect(**{"connect_timeout": SECONDS_TO_CONNECT, **parameters}, autocommit=True)


def _embedded(folder: DataFolder, role: str, database: str) -> dict[str, Any]:
    passfile = str(password_file(folder, role))
    return {"dbname": database, "user": role, "host": str(socket_folder(folder)), "passfile": passfile}


def _real(found: Environment, folder: DataFolder) -> dict[str, Any]:
    """Give what psycopg needs to reach the real database."""
    if found.uses_embedded_engine:
        return _embedded(folder, APP, DATABASE)
    given = environ.Env.db_url_config(found.get("DATABASE_URL"))
    names = {"dbname": "NAME", "user": "USER", "password": "PASSWORD", "host": "HOST", "port": "PORT"}
    return {key: given[name] for key, name in names.items() if given.get(name)} | given.get("OPTIONS", {})


def _create(connection: psycopg.Connection[Any], name: str, more: str = "") -> None:
    if connection.execute("SELECT FROM pg_database WHERE datname = %s", [name]).fetchone() is None:
        connection.execute(sql.SQL("CREATE DATABASE {}" + more).format(sql.Identifier(name)))


def _make_embedded(folder: DataFolder) -> str:
    """Make the demo's database in our own engine, for the same roles as the real one."""
    name = DATABASE + DEMO_SUFFIX
    with closing(_connect(_embedded(folder, SUPERUSER, SUPERUSER))) as connection:
        _create(connection, name, f" OWNER {OWNER}")
        connection.execute(f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        connection.execute(f"GRANT CONNECT, TEMPORARY ON DATABASE {name} TO {APP}")
    return name


def _make_beside(found: Environment) -> str:
    """Make the demo's database on the server of DATABASE_URL, if its user may."""
    parameters = _real(found, DataFolder(found.data_folder))
    name = f"{parameters['dbname']}{DEMO_SUFFIX}"
    with closing(_connect(parameters)) as connection:
        _create(connection, name)
    _connect(parameters | {"dbname": name}).close()
    return name
