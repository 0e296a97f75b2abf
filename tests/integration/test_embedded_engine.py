"""The embedded engine: private, shared, stopped by the last one out, and whole whatever was left behind."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from config.embedded import hold_engine
from config.embedded.cluster import APP, OWNER, ROLES, password_file
from config.embedded.server import SOCKET_NAME, server_pid, socket_folder
from config.folders import DataFolder
from tests.support.installation import Holder, Installation, is_up


@pytest.fixture
def installation(tmp_path: Path) -> Iterator[Installation]:
    one = Installation(tmp_path / "var")
    yield one
    one.kill_all()


def mode(path: Path) -> int:
    return path.stat().st_mode & 0o777


def test_everything_is_for_this_user_only(installation: Installation) -> None:
    before = os.umask(0o000)
    try:
        hold = hold_engine(installation.folder)
    finally:
        os.umask(before)
    folder = installation.folder
    assert {mode(path) for path in (folder.path, folder.postgres, folder.run, folder.secrets)} == {0o700}
    assert {path.name: mode(path) for path in folder.secrets.iterdir()} == {
        "pgpass-fleetledger-app": 0o600,
        "pgpass-fleetledger-owner": 0o600,
        "pgpass-postgres": 0o600,
    }
    assert mode(folder.run / "postgres.log") == mode(folder.run / "lock") == 0o600
    assert mode(folder.run / SOCKET_NAME) == 0o700
    hold.release()


def test_it_listens_on_its_socket_only_and_wants_a_password(installation: Installation) -> None:
    hold = hold_engine(installation.folder)
    where = str(socket_folder(installation.folder))
    for role in ROLES:
        with pytest.raises(psycopg.OperationalError, match="password"):
            psycopg.connect(host=where, dbname="fleetledger", user=role, password="wrong")
        with psycopg.connect(
            host=where, dbname="fleetledger", user=role, passfile=str(password_file(installation.folder, role))
        ) as connection:
            asked = connection.execute("SELECT current_user, rolsuper FROM pg_roles WHERE rolname = current_user")
            assert asked.fetchone() == (role, role == "postgres")
            assert connection.execute("SHOW listen_addresses").fetchone() == ("",)
    hold.release()


def test_the_last_one_out_stops_it(installation: Installation) -> None:
    here, there = hold_engine(installation.folder), Holder(installation)
    assert there.server_pid() == server_pid(installation.folder)
    here.release()
    assert is_up(installation)
    there.leave()
    assert server_pid(installation.folder) is None
    assert not (installation.folder.postgres / "postmaster.pid").exists()
    assert not (installation.folder.run / SOCKET_NAME).exists()


def test_releasing_twice_is_harmless(installation: Installation) -> None:
    first, second = hold_engine(installation.folder), hold_engine(installation.folder)
    first.release()
    first.release()
    assert is_up(installation)
    second.release()


def test_several_processes_on_a_fresh_folder_get_one_server(installation: Installation) -> None:
    holders = [Holder(installation) for _ in range(4)]
    pids = {holder.server_pid() for holder in holders}
    assert len(pids) == 1
    for holder in holders:
        holder.leave()
    installation.wait_until_empty()


def test_data_survive_a_stop(installation: Installation) -> None:
    hold = hold_engine(installation.folder)
    installation.sql("CREATE TABLE kept AS SELECT 42 AS answer", OWNER)
    hold.release()
    hold = hold_engine(installation.folder)
    assert installation.sql("SELECT answer FROM kept", OWNER) == [(42,)]
    hold.release()


def test_a_path_too_long_for_a_socket_gets_a_short_one(tmp_path: Path) -> None:
    deep = Installation(tmp_path / ("long-" * 10) / ("path-" * 10) / "var")
    hold = hold_engine(deep.folder)
    short = socket_folder(deep.folder)
    assert short != deep.folder.run
    assert len(str(short / SOCKET_NAME)) < 60
    assert mode(short) == 0o700
    other = Holder(deep)
    assert other.server_pid() == server_pid(deep.folder)
    hold.release()
    other.leave()
    assert not is_up(deep)
    again = hold_engine(deep.folder)
    assert socket_folder(deep.folder) == short
    again.release()
    short.rmdir()


def test_a_short_folder_that_somebody_else_could_enter_is_not_used(tmp_path: Path) -> None:
    deep = Installation(tmp_path / ("long-" * 10) / ("path-" * 10) / "var")
    deep.folder.make()
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o755)
    (deep.folder.run / "socket-folder").write_text(str(open_folder))
    hold = hold_engine(deep.folder)
    assert socket_folder(deep.folder) not in {open_folder, deep.folder.run}
    hold.release()
    socket_folder(deep.folder).rmdir()


def test_a_pid_file_of_a_dead_server_does_not_block(installation: Installation) -> None:
    hold_engine(installation.folder).release()
    stale = f"{os.getpid()}\n{installation.folder.postgres}\n1\n5432\n{installation.folder.run}\n\n1 1\nready   \n"
    (installation.folder.postgres / "postmaster.pid").write_text(stale)  # the pid is in other use now
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(installation.folder.run / SOCKET_NAME))
    assert not is_up(installation)
    hold = hold_engine(installation.folder)
    assert server_pid(installation.folder) not in {None, os.getpid()}
    hold.release()


def test_files_that_were_made_half_are_made_again(installation: Installation) -> None:
    half = installation.folder.path / "postgres.new"
    half.mkdir(parents=True)
    (half / "PG_VERSION").write_text("18\n")
    hold = hold_engine(installation.folder)
    assert installation.sql("SELECT 1") == [(1,)]
    assert not half.exists()
    hold.release()


def test_lost_passwords_are_made_anew(installation: Installation) -> None:
    hold_engine(installation.folder).release()
    before = password_file(installation.folder, OWNER).read_text()
    password_file(installation.folder, APP).unlink()
    hold = hold_engine(installation.folder)
    assert installation.sql("SELECT 1") == [(1,)]
    assert password_file(installation.folder, OWNER).read_text() != before
    hold.release()


def test_modes_that_a_copy_has_widened_are_narrowed(installation: Installation) -> None:
    hold_engine(installation.folder).release()
    installation.folder.postgres.chmod(0o755)
    installation.folder.secrets.chmod(0o755)
    hold = hold_engine(installation.folder)
    assert mode(installation.folder.postgres) == mode(installation.folder.secrets) == 0o700
    hold.release()


def test_a_fork_does_not_stop_the_server(installation: Installation) -> None:
    hold = hold_engine(installation.folder)
    child = os.fork()
    if child == 0:
        hold.release()
        os._exit(0)
    os.waitpid(child, 0)
    assert is_up(installation)
    hold.release()
    assert not is_up(installation)


def test_temporary_engine(tmp_path: Path) -> None:
    from config.embedded import temporary_engine

    with temporary_engine(tmp_path / "db") as url:
        assert url == f"postgres://postgres@/postgres?host={tmp_path / 'db' / 's'}"
        with psycopg.connect(url) as connection:
            assert connection.execute("SHOW fsync").fetchone() == ("off",)
    assert not (tmp_path / "db" / "s" / SOCKET_NAME).exists()


def test_data_folder_paths() -> None:
    folder = DataFolder(Path("/x"))
    assert (folder.postgres, folder.run, folder.secrets) == (Path("/x/postgres"), Path("/x/run"), Path("/x/secrets"))
