"""The server's parent process. It stops PostgreSQL when every user of it has died without a word.

Run by path with the standard library only (``python -I -S warden.py LOCK SERVER...``), so it is small and quick. It
starts the server and sleeps until that ends; once a second it asks whether anybody still holds the shared lock. When
nobody does, it stops the server, holding the lock alone so that newcomers wait and then start a fresh one. When it is
killed itself, the server gets SIGINT from the kernel (PDEATHSIG).
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys

SECONDS_TO_STOP = 60.0
SECONDS_BETWEEN_LOOKS = 1.0
_HANDLED = {signal.SIGCHLD, signal.SIGTERM}


def main(arguments: list[str]) -> int:
    """Guard the server given as LOCK PROGRAM ARGUMENT...; return its exit code."""
    lock = os.open(arguments[0], os.O_RDWR | os.O_CLOEXEC)
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, _HANDLED)  # they are waited for, below
    server = subprocess.Popen(arguments[1:], preexec_fn=_die_with_parent)  # noqa: PLW1509 - no threads here
    while (code := server.poll()) is None:
        told = signal.sigtimedwait(_HANDLED, SECONDS_BETWEEN_LOOKS)
        if (told is None and _nobody_holds(lock)) or (told is not None and told.si_signo == signal.SIGTERM):
            return _stop(server)
    return code


def _nobody_holds(lock: int) -> bool:
    """Take the lock alone, if that is possible; it is kept until this process ends."""
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _stop(server: subprocess.Popen[bytes]) -> int:
    server.send_signal(signal.SIGINT)  # fast: ends sessions, writes everything, stops
    try:
        return server.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        server.send_signal(signal.SIGQUIT)  # at once; the next start recovers from the log
        return server.wait()


def _die_with_parent() -> None:
    """Ask the kernel for SIGINT when this warden dies (as root, setpriv says it again inside the namespace)."""
    for number in (signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLED)
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(1, signal.SIGINT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
