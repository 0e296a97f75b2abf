"""`make run` without a source: the demo fleet, in its own database, until something is connected."""

from __future__ import annotations

import os
import signal
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded.hold import hold_engine
from tests.faults.test_make_run import url_of
from tests.support.installation import Installation, supervised
from tests.support.processes import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("make_run")]
DEMO = "fleetledger_demo"
AUTO = {"FLEETLEDGER_DEMO": ""}  # an empty variable counts as not set
YAML = 'sources: [{name: main, kind: prometheus, url: "http://127.0.0.1:9"}]'


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    one = Installation(tmp_path / "var")
    yield one
    one.kill_all()


def days(installation: Installation) -> float:
    """Give how many days of the demo's history are there."""
    query = "SELECT extract(epoch FROM max(until) - min(since)) / 86400 FROM fleet_sourcepull"
    found = installation.sql(query, database=DEMO)[0][0]
    return float(str(found or 0))


def test_the_demo_fills_goes_on_after_a_kill_and_ends_with_the_first_source(
    installation: Installation, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    with supervised(installation, log, **AUTO) as process:
        assert "this is the demo fleet (database fleetledger_demo)" in log.read_text()
        with urllib.request.urlopen(f"{url_of(log)}/sign-in/") as answer:
            page = answer.read().decode()
        assert "Fleetledger DEMO." in page
        assert "Demo history: " in page
        wait_until(lambda: days(installation) >= 2, seconds=60, what="two days of history")
        (filler,) = installation.pids("config.serve demo")
        os.kill(filler, signal.SIGKILL)
        wait_until(lambda: "demo ended (SIGKILL); starting it again" in log.read_text(), seconds=10, what="the line")
        before = days(installation)
        wait_until(lambda: days(installation) > before, seconds=60, what="more history")

        assert installation.sql("SELECT to_regclass('fleet_source') IS NULL") == [(True,)]  # the real one is untouched
        declared = tmp_path / "fleet.yaml"
        declared.write_text(YAML, encoding="utf-8")
        done = installation.manage("apply", str(declared))
        assert done.returncode == 0, done.stderr
        line = "A source or account of yours is connected now"
        wait_until(lambda: line in log.read_text(), seconds=30, what="the line that says so")
        assert installation.sql("SELECT name FROM fleet_source") == [("main",)]
        assert installation.sql("SELECT name FROM fleet_source", database=DEMO) == [("demo",)]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
        installation.wait_until_empty(2)
    assert log.read_text().count("First sign-in") == 1

    log = tmp_path / "second"
    with supervised(installation, log, **AUTO) as process:
        with urllib.request.urlopen(f"{url_of(log)}/sign-in/") as answer:
            assert "DEMO" not in answer.read().decode()
        assert installation.pids("config.serve demo") == []
        assert installation.sql("SELECT count(*) FROM fleet_gpu") == [(0,)]
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0


def test_with_an_address_there_is_no_demo(installation: Installation, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with supervised(installation, log, PROMETHEUS_URL="http://127.0.0.1:9", **AUTO) as process:
        assert "demo" not in log.read_text()
        with urllib.request.urlopen(f"{url_of(log)}/sign-in/") as answer:
            assert "DEMO" not in answer.read().decode()
        assert installation.pids("config.serve demo") == []
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    hold = hold_engine(installation.folder)
    try:
        known = installation.sql("SELECT datname FROM pg_database")
        assert (DEMO,) not in known
        assert installation.sql("SELECT name, kind FROM fleet_source") == [("default", "prometheus")]
    finally:
        hold.release()
