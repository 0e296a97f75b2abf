"""Kills around the embedded engine: whoever dies, in whatever order, nothing is left running and no data are lost."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.embedded import hold_engine
from config.embedded.cluster import OWNER
from config.embedded.server import server_pid
from tests.support.installation import Holder, Installation, is_up
from tests.support.processes import wait_until

pytestmark = pytest.mark.faults


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    one = Installation(tmp_path / "var")
    yield one
    one.kill_all()


def was_shut_down(installation: Installation) -> bool:
    return "database system is shut down" in (installation.folder.run / "postgres.log").read_text().splitlines()[-1]


def test_the_only_user_is_killed(installation: Installation) -> None:
    holder = Holder(installation)
    holder.server_pid()
    holder.kill()
    installation.wait_until_empty(10)
    assert was_shut_down(installation)


def test_one_of_two_users_is_killed(installation: Installation) -> None:
    first, second = Holder(installation), Holder(installation)
    assert first.server_pid() == second.server_pid()
    first.kill()
    with pytest.raises(pytest.fail.Exception):
        installation.wait_until_empty(3)
    assert is_up(installation)
    second.leave()
    installation.wait_until_empty(10)


def test_the_user_and_the_warden_are_killed(installation: Installation) -> None:
    holder = Holder(installation)
    holder.server_pid()
    (warden,) = installation.pids("warden.py")
    os.kill(warden, signal.SIGKILL)
    holder.kill()
    installation.wait_until_empty(10)
    assert was_shut_down(installation)


def test_everybody_is_killed_at_once_and_the_next_start_has_the_data(installation: Installation) -> None:
    holder = Holder(installation)
    holder.server_pid()
    installation.sql("CREATE TABLE kept AS SELECT 42 AS answer", OWNER)
    for pid in installation.processes():
        os.kill(pid, signal.SIGKILL)
    holder.kill()
    assert (installation.folder.postgres / "postmaster.pid").exists()
    hold = hold_engine(installation.folder)  # at once, while the killed ones are hardly gone
    assert installation.sql("SELECT answer FROM kept", OWNER) == [(42,)]
    hold.release()
    installation.wait_until_empty(10)


def test_the_server_is_killed_under_its_users(installation: Installation) -> None:
    hold = hold_engine(installation.folder)
    installation.sql("CREATE TABLE kept AS SELECT 42 AS answer", OWNER)
    killed = server_pid(installation.folder)
    assert killed is not None
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: not is_up(installation), seconds=10, what="the death")
    assert hold.ensure_running()
    assert not hold.ensure_running()
    assert installation.sql("SELECT answer FROM kept", OWNER) == [(42,)]
    hold.release()
    installation.wait_until_empty(10)


def test_a_newcomer_while_the_last_one_leaves(installation: Installation) -> None:
    hold = hold_engine(installation.folder)
    for _ in range(5):
        newcomer = Holder(installation)
        hold.release()
        newcomer.server_pid()
        hold = hold_engine(installation.folder)
        assert installation.sql("SELECT 1") == [(1,)]
        newcomer.leave()
    hold.release()
    installation.wait_until_empty(10)


@pytest.mark.parametrize("after", [0.02, 0.1, 0.3, 0.6])
def test_the_first_start_is_killed_half_way(installation: Installation, after: float) -> None:
    holder = Holder(installation)
    with pytest.raises(pytest.fail.Exception):
        wait_until(lambda: False, seconds=after, what="a moment")
    holder.kill()
    for pid in installation.processes():
        os.kill(pid, signal.SIGKILL)
    hold = hold_engine(installation.folder)
    assert installation.sql("SELECT 1") == [(1,)]
    hold.release()
    installation.wait_until_empty(10)
