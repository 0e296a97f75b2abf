"""`make run`: it starts, starts again what ends, and ends whole, however it is ended."""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded.server import server_pid
from tests.support.installation import CHECKOUT, Installation, is_up, supervised
from tests.support.processes import wait_until

pytestmark = [pytest.mark.faults, pytest.mark.xdist_group("make_run")]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that has been migrated, to be copied: a first start is tested once, not ten times."""
    installation = Installation(tmp_path_factory.mktemp("prepared") / "var")
    done = installation.manage("prepare")
    assert done.returncode == 0, done.stderr
    assert re.fullmatch(r"First sign-in: admin@localhost, password \S{16} \(shown only now\)\n", done.stdout)
    return installation.folder.path


@pytest.fixture
def installation(tmp_path: Path, prepared: Path) -> Iterator[Installation]:
    one = Installation(tmp_path / "var")
    shutil.copytree(prepared, one.folder.path)
    yield one
    one.kill_all()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def url_of(log: Path) -> str:
    found = re.search(r"Fleetledger is at (\S+)", log.read_text())
    assert found is not None
    return found[1]


def test_the_first_start(tmp_path: Path, log: Path) -> None:
    installation = Installation(tmp_path / "var")
    with supervised(installation, log) as process:
        with urllib.request.urlopen(f"{url_of(log)}/sign-in/") as answer:
            assert answer.status == 200
        assert log.read_text().count("First sign-in: admin@localhost") == 1
        process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    installation.wait_until_empty(1)
    with supervised(installation, log):
        assert log.read_text().count("First sign-in: admin@localhost") == 1


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_everything(installation: Installation, log: Path, number: signal.Signals) -> None:
    with supervised(installation, log) as process:
        assert len(installation.pids("config.serve")) >= 3
        process.send_signal(number)
        assert process.wait(20) == 0
        installation.wait_until_empty(1)
    assert "Traceback" not in log.read_text().partition("stopping")[2]
    assert "database system is shut down" in (installation.folder.run / "postgres.log").read_text().splitlines()[-1]


def test_killing_the_supervisor_ends_everything(installation: Installation, log: Path) -> None:
    with supervised(installation, log) as process:
        process.kill()
        process.wait(5)
        installation.wait_until_empty(15)
    assert "database system is shut down" in (installation.folder.run / "postgres.log").read_text().splitlines()[-1]


def test_killing_make_ends_everything(installation: Installation, log: Path) -> None:
    command = ["make", "--no-print-directory", "run", f"PYTHON={sys.executable}"]
    with supervised(installation, log, command) as process:
        process.kill()
        process.wait(5)
        installation.wait_until_empty(20)


@pytest.mark.parametrize("name", ["web", "worker", "beat"])
def test_a_child_that_ends_is_started_again(installation: Installation, log: Path, name: str) -> None:
    with supervised(installation, log):
        child = installation.pids(f"config.serve {name}")[0]
        os.kill(child, signal.SIGKILL)
        line = f"{name} ended (SIGKILL); starting it again in 1 s"
        wait_until(lambda: line in log.read_text(), seconds=10, what="the line that says so")
        # Whether nothing runs in that second is not asked: on a busy machine it is over before the question.
        wait_until(lambda: bool(set(installation.pids(f"config.serve {name}")) - {child}), seconds=20, what=name)
        assert child not in installation.pids(f"config.serve {name}")
        wait_until(lambda: answers(url_of(log)), seconds=20, what="web")


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_a_database_that_dies_is_started_again(installation: Installation, log: Path) -> None:
    with supervised(installation, log):
        killed = server_pid(installation.folder)
        assert killed is not None
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: server_pid(installation.folder) not in {None, killed}, seconds=20, what="the database")
        wait_until(lambda: is_up(installation), seconds=20, what="the database")
        wait_until(lambda: "the database had ended" in log.read_text(), seconds=5, what="the line that says so")
        wait_until(lambda: answers(url_of(log)), seconds=20, what="web")


def test_a_second_start_says_where_the_first_one_is(installation: Installation, log: Path) -> None:
    with supervised(installation, log):
        second = subprocess.run(
            [sys.executable, "-m", "config.supervisor"],
            cwd=CHECKOUT, env=installation.environment(), capture_output=True, text=True, check=False, timeout=20,
        )  # fmt: skip
        assert second.returncode == 1
        assert second.stderr == f"Fleetledger is already running at {url_of(log)}. [already_running]\n"
        assert answers(url_of(log))


def test_commands_run_beside_it(installation: Installation, log: Path) -> None:
    with supervised(installation, log) as process:
        done = installation.manage("set_password", "admin@localhost", "--json")
        assert done.returncode == 0, done.stderr
        assert process.poll() is None
        assert answers(url_of(log))


def test_a_port_in_use_is_passed_over_and_said(installation: Installation, log: Path) -> None:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            other.bind(("127.0.0.1", 8000))
            other.listen()
        except OSError:
            pass  # somebody else listens there: just as good
        with supervised(installation, log):
            port = int(url_of(log).rpartition(":")[2])
            assert 8001 <= port <= 8099
            assert f"Port 8000 is in use; taking {port}" in log.read_text()


def test_two_installations_on_one_machine(
    installation: Installation, tmp_path: Path, prepared: Path, log: Path
) -> None:
    other = Installation(tmp_path / "other" / "var")
    shutil.copytree(prepared, other.folder.path)
    with supervised(installation, log), supervised(other, tmp_path / "other-log"):
        assert url_of(log) != url_of(tmp_path / "other-log")
        assert answers(url_of(log))
        assert answers(url_of(tmp_path / "other-log"))
    other.kill_all()
