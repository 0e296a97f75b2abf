"""The processes that `make run` starts, each as one foreground program: ``python -m config.serve NAME PARENT-PID``.

Each holds the embedded engine itself and ends with its parent, also when the parent is killed.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path

from common.errors import FleetledgerError
from config import startup

SECONDS_TO_END = 8.0
SOCKET_VARIABLE = "WEB_SOCKET"  # the number of the listening socket that the supervisor hands down


def end_with_parent(parent: int) -> None:
    """End when ``parent`` ends: SIGTERM at once from the kernel, SIGKILL to the whole group some seconds later.

    Raises SystemExit when it is gone already.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(1)
    threading.Thread(target=_kill_group_when_orphaned, args=(parent,), daemon=True, name="parent-watch").start()


def _kill_group_when_orphaned(parent: int) -> None:
    pause = threading.Event()
    while os.getppid() == parent:
        pause.wait(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
    pause.wait(SECONDS_TO_END)
    os.killpg(os.getpgrp(), signal.SIGKILL)


def web() -> None:
    """Serve pages with gunicorn on the socket of the supervisor."""
    from gunicorn.app.wsgiapp import WSGIApplication

    configuration = Path(__file__).with_name("gunicorn.py")
    address = f"fd://{os.environ[SOCKET_VARIABLE]}" if SOCKET_VARIABLE in os.environ else "127.0.0.1:8000"
    sys.argv = ["gunicorn", "--config", str(configuration), "--bind", address, "--preload", "config.wsgi"]
    WSGIApplication("%(prog)s [OPTIONS] [APP_MODULE]").run()


def worker() -> None:
    """Run periodic jobs as beat's messages come."""
    from celery.exceptions import SecurityWarning

    from config.celery import app, let_database_go

    # Root is what the person at the terminal chose, and messages are JSON: nothing in them is run.
    warnings.filterwarnings("ignore", category=SecurityWarning)
    options = ["--concurrency=2", "--loglevel=WARNING", "--without-gossip", "--without-mingle", "--without-heartbeat"]
    try:
        app.worker_main(["--quiet", "worker", *options])
    finally:
        let_database_go()


def beat() -> None:
    """Send a message for every job that is due."""
    from config.celery import app, let_database_go

    try:
        app.Beat(loglevel="WARNING", pidfile=None, quiet=True).run()
    finally:
        let_database_go()


def demo() -> None:
    """Fill the demo fleet's history, and end."""
    from config import commandline

    sys.exit(commandline.run(["manage.py", "demo"]))


PROGRAMS: Mapping[str, Callable[[], None]] = {"web": web, "worker": worker, "beat": beat, "demo": demo}


def main(arguments: list[str]) -> int:
    """Run one program until it is told to end: NAME PARENT-PID."""
    name, parent = arguments
    end_with_parent(int(parent))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    try:
        PROGRAMS[name]()
    except FleetledgerError as error:
        return startup.report(error)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
