"""Starting and ending the programs that tests need, by their own pid only."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

_TICK = threading.Event()


def require_program(name: str, *places: Path) -> str:
    """Give the path of a program, from ``places`` first; skip the test without it, fail it under ``CI=true``."""
    found = next((str(place / name) for place in places if (place / name).exists()), shutil.which(name))
    if found:
        return found
    reason = f"{name} is not installed (`make services` installs it where that is allowed)"
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def free_port() -> int:
    """Give a loopback port that nobody listens on."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def wait_until(ready: Callable[[], bool], *, seconds: float, what: str) -> None:
    """Poll a program of the outside world until it is ready; fail with ``what`` after ``seconds``."""
    for _ in range(int(seconds / 0.05)):
        if ready():
            return
        _TICK.wait(0.05)
    pytest.fail(f"{what} was not ready after {seconds} s")


@contextmanager
def running(
    argv: Sequence[str | Path],
    *,
    log: Path,
    env: dict[str, str] | None = None,
    cwd: Path | None = None,
    stop_signal: int = 15,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program with its output in ``log``; end it (and its session, if it hangs for 15 s) afterwards."""
    with log.open("ab") as output:
        process = subprocess.Popen(
            [str(part) for part in argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(stop_signal)
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait(5)
