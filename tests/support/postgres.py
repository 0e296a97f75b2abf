"""The PostgreSQL that the system's packages installed (15 on Debian 12), as a throw-away server without durability."""

from __future__ import annotations

import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.embedded.binaries import user_prefix
from tests.support.processes import free_port, require_program, running, wait_until

_SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=64MB")


@contextmanager
def system_postgres() -> Iterator[str]:
    """Start it on a free loopback port with its files in a temporary folder; give its DATABASE_URL; end it."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    programs = Path(require_program("postgres", *places)).resolve().parent
    folder = Path(tempfile.mkdtemp(prefix="fl-pg-"))  # short: a socket's path has a limit of about 107 bytes
    port = free_port()
    try:
        initdb = [*user_prefix(), str(programs / "initdb"), "-D", str(folder / "data"), "-U", "postgres", "-A", "trust"]
        subprocess.run([*initdb, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"], check=True, capture_output=True)
        settings = (*_SETTINGS, "listen_addresses=127.0.0.1", f"port={port}", f"unix_socket_directories={folder}")
        serve = [*user_prefix(), str(programs / "postgres"), "-D", str(folder / "data")]
        serve += [part for setting in settings for part in ("-c", setting)]
        ready = [str(programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
        with running(serve, log=folder / "log", stop_signal=signal.SIGINT):
            wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, seconds=20, what="PostgreSQL")
            yield f"postgres://postgres@127.0.0.1:{port}/postgres"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
