"""Shared fixtures. The database: DATABASE_URL if set, else a throw-away one of the embedded engine's binaries."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import environ
import pytest
from django.utils import translation

from config.embedded.temporary import temporary_engine
from tests.support.prometheus import PrometheusStarter
from tests.support.redis import redis_server
from tests.support.scripted_http import ScriptedServer
from tests.support.smtp import SmtpSink

_session = ExitStack()
# Browser tests run an event loop in their thread; Django's guard would refuse every query there.
os.environ.setdefault("DJANGO_ALLOW_ASYNC_UNSAFE", "true")


def pytest_configure(config: pytest.Config) -> None:
    """Start one database for all xdist workers in the process that controls them."""
    if getattr(config.option, "numprocesses", None) and not hasattr(config, "workerinput"):
        _start_database()


def pytest_unconfigure(config: pytest.Config) -> None:
    """End what this session started."""
    _session.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under CI=true no test of the suite is skipped: what it needs is there. Faults depend on the machine."""
    report = yield
    is_skipped = report.skipped and not hasattr(report, "wasxfail") and not item.get_closest_marker("faults")
    if is_skipped and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped under CI=true: {report.longrepr}"
    return report


def _start_database() -> None:
    if "DATABASE_URL" not in os.environ:
        folder = _session.enter_context(tempfile.TemporaryDirectory(prefix="fl-db-"))
        os.environ["DATABASE_URL"] = _session.enter_context(temporary_engine(Path(folder)))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings_parallel_suffix: None) -> None:
    """Point Django at the tests' database just before it is first used; unit tests start none."""
    from django.db import connections

    _start_database()
    given = environ.Env().db_url("DATABASE_URL")
    for key in ("NAME", "USER", "PASSWORD", "HOST", "PORT", "OPTIONS"):
        empty = {} if key == "OPTIONS" else ""
        connections.settings["default"][key] = connections["default"].settings_dict[key] = given.get(key, empty)


@pytest.fixture(scope="session", autouse=True)
def audit_trail_can_be_emptied() -> None:
    """Let tests with real transactions empty the audit trail, whose database refuses that to everybody else."""
    from django.db.backends.postgresql.operations import DatabaseOperations

    flush = DatabaseOperations.execute_sql_flush
    switch = "ALTER TABLE people_auditevent {} TRIGGER people_auditevent_no_truncate"

    def with_leave(self: Any, sql_list: list[str]) -> None:
        flush(self, [switch.format("DISABLE"), *sql_list, switch.format("ENABLE")])

    setattr(DatabaseOperations, "execute_sql_flush", with_leave)  # noqa: B010


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator[PrometheusStarter]:
    """Start real Prometheus servers: ``prometheus.backfilled(openmetrics)``, ``prometheus.scraping(exporter)``."""
    with PrometheusStarter(tmp_path) as starter:
        yield starter


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the URL of a real Redis of this session."""
    with redis_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def smtp_sink() -> Iterator[SmtpSink]:
    """Give a real SMTP server that keeps what it receives."""
    with SmtpSink() as sink:
        yield sink


@pytest.fixture
def scripted_http() -> Iterator[ScriptedServer]:
    """Give an HTTP server on loopback that answers as the test says and records every request."""
    with ScriptedServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _one_language() -> Iterator[None]:
    """Let no test leave another its language: the test client answers in the same thread."""
    yield
    translation.deactivate()
