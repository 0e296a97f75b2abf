"""A whole installation in a folder of its own, driven from outside: commands, holders of the engine, `make run`."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from config.embedded.server import is_ready
from config.folders import DataFolder
from tests.support.processes import running, wait_until

CHECKOUT = Path(__file__).resolve().parent.parent.parent
_HOLD = """
import sys
from pathlib import Path
from config.embedded import hold_engine
from config.embedded.server import server_pid
from config.folders import DataFolder
folder = DataFolder(Path(sys.argv[1]))
hold = hold_engine(folder)
print(server_pid(folder), flush=True)
sys.stdin.read()
hold.release()
"""


class Installation:
    """One data folder and what runs on it."""

    def __init__(self, path: Path) -> None:
        self.folder = DataFolder(path)
        self.said = ""  # what its first start printed

    def environment(self, **more: str) -> dict[str, str]:
        """Give the environment of its processes: nothing of ours but the data folder."""
        ours = (
            "DATABASE_URL",
            "CELERY_BROKER_URL",
            "PROMETHEUS_URL",
            "SECRET_KEY",
            "DJANGO_SETTINGS_MODULE",
            "DJANGO_ALLOW_ASYNC_UNSAFE",
        )
        kept = {name: value for name, value in os.environ.items() if name not in ours and not name.startswith("PYTEST")}
        return {**kept, "FLEETLEDGER_DATA_DIR": str(self.folder.path), "FLEETLEDGER_DEMO": "off", **more}

    def manage(self, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run one command to its end."""
        return subprocess.run(
            [sys.executable, str(CHECKOUT / "manage.py"), *arguments],
            env=self.environment(**more),
            capture_output=True,
            text=True,
            check=False,
            timeout=100,
        )

    def processes(self) -> dict[int, str]:
        """Give pid and command line of every process that was started for this folder."""
        mark = f"FLEETLEDGER_DATA_DIR={self.folder.path}".encode()
        found = {}
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
            except OSError:
                continue  # it has ended meanwhile
        return {pid: line for pid, line in found.items() if line}

    def pids(self, words: str) -> list[int]:
        """Give the pids whose command line holds ``words``, parents first."""
        return sorted(pid for pid, line in self.processes().items() if words in line)

    def wait_until_empty(self, seconds: float = 20) -> None:
        """Wait until nothing of this folder runs; fail with what is left."""
        wait_until(lambda: not self.processes(), seconds=seconds, what=f"the end of {self.processes()}")

    def sql(self, statement: str, role: str = "fleetledger_app", *, database: str = "") -> list[tuple[object, ...]]:
        """Ask the embedded database (the real one, if no other is named) as ``role``."""
        import psycopg

        from config.embedded.cluster import DATABASE, password_file
        from config.embedded.server import socket_folder

        host, passfile = str(socket_folder(self.folder)), str(password_file(self.folder, role))
        with psycopg.connect(dbname=database or DATABASE, user=role, host=host, passfile=passfile) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def kill_all(self) -> None:
        """End what a failed test has left."""
        for pid in self.processes():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


class Holder:
    """Another process that uses the engine."""

    def __init__(self, installation: Installation) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _HOLD, str(installation.folder.path)],
            cwd=CHECKOUT,
            env=installation.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def server_pid(self) -> int:
        """Wait until it has the engine; give the server's pid."""
        assert self._process.stdout is not None
        return int(self._process.stdout.readline())

    def leave(self) -> None:
        """Let it end as it should."""
        self._process.communicate("", timeout=30)
        assert self._process.returncode == 0

    def kill(self) -> None:
        """Kill it without a word."""
        self._process.kill()
        self._process.wait(10)
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


@contextmanager
def supervised(
    installation: Installation, log: Path, command: Sequence[str] = (), **more: str
) -> Iterator[subprocess.Popen[bytes]]:
    """Start everything as `make run` does, and wait until it serves."""
    argv = command or [sys.executable, "-m", "config.supervisor"]
    with running(argv, log=log, env=installation.environment(**more), cwd=CHECKOUT) as process:
        wait_until(lambda: "Fleetledger is at" in log.read_text() or process.poll() is not None, seconds=60, what="web")
        assert process.poll() is None, log.read_text()
        yield process


def is_up(installation: Installation) -> bool:
    """Tell whether the engine takes connections."""
    return is_ready(installation.folder)
