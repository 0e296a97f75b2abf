"""A throw-away server for tests and benchmarks: no durability, no password, gone with its folder."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from config.embedded.binaries import death_signal_prefix, program_folder, user_prefix
from config.embedded.cluster import failure
from config.embedded.server import LONGEST_SOCKET_PATH, SOCKET_NAME, takes_connections
from config.folders import make_private_folder

_SETTINGS = ("listen_addresses=", "fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=100")


@contextlib.contextmanager
def temporary_engine(path: Path) -> Iterator[str]:
    """Start a server with its files in ``path`` (made if need be); yield a DATABASE_URL of its superuser; end it."""
    with contextlib.ExitStack() as stack:
        sockets = path / "s"
        if len(str(sockets / SOCKET_NAME)) > LONGEST_SOCKET_PATH:
            sockets = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fl-", dir="/tmp")))
        make_private_folder(sockets)
        data, programs, prefix = path / "data", program_folder(), [*user_prefix(), *death_signal_prefix()]
        initdb = [str(programs / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust", "-E", "UTF8"]
        made = subprocess.run(
            [*prefix, *initdb, "--locale=C.UTF-8", "--no-sync"], capture_output=True, text=True, check=False
        )
        if made.returncode:
            raise failure(made.stderr, what="make a temporary database")
        settings = [part for setting in (*_SETTINGS, f"unix_socket_directories={sockets}") for part in ("-c", setting)]
        log = stack.enter_context((path / "log").open("wb"))
        server = subprocess.Popen(
            [*prefix, str(programs / "postgres"), "-D", str(data), *settings], stdout=log, stderr=log
        )
        stack.callback(_end, server)
        _wait(server, data, sockets, path / "log")
        yield f"postgres://postgres@/postgres?host={sockets}"


def _wait(server: subprocess.Popen[bytes], data: Path, sockets: Path, log: Path) -> None:
    pause, end = threading.Event(), time.monotonic() + 30
    while not takes_connections(data, sockets):
        if server.poll() is not None or time.monotonic() > end:
            raise failure(log.read_text(encoding="utf-8"), what="start a temporary database")
        pause.wait(0.01)


def _end(server: subprocess.Popen[bytes]) -> None:
    server.send_signal(signal.SIGINT)
    try:
        server.wait(10)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()
