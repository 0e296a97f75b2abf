"""How long a start takes: from nothing, the first one, later ones, a command beside nothing, and the end.

Must reach: `make setup` done, first page in 20 s; later starts 6 s; from nothing 90 s.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
_OURS = ("DATABASE_URL", "CELERY_BROKER_URL", "PROMETHEUS_URL", "FLEETLEDGER_URL")
_pause = threading.Event()


def environment(folder: Path) -> dict[str, str]:
    """Give the environment of a fresh installation in ``folder``."""
    return {name: value for name, value in os.environ.items() if name not in _OURS} | {
        "FLEETLEDGER_DATA_DIR": str(folder)
    }


def start_and_stop(folder: Path, log: Path) -> tuple[float, float]:
    """Start everything, ask for the first page, stop; give the seconds to the page and to the end."""
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "config.supervisor"], cwd=ROOT, env=environment(folder), stdout=output, stderr=output
        )
        while not (found := re.search(r"Fleetledger is at (\S+)", log.read_text(encoding="utf-8"))):
            if process.poll() is not None:
                raise SystemExit(log.read_text(encoding="utf-8"))
            _pause.wait(0.02)
        with urllib.request.urlopen(f"{found[1]}/sign-in/") as page:
            page.read()
        ready = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.wait()
    return ready - began, time.monotonic() - ready


def seconds(argv: list[str], cwd: Path, folder: Path) -> float | None:
    """Run a program; give its seconds, None when it failed."""
    began = time.monotonic()
    done = subprocess.run(argv, cwd=cwd, env=environment(folder), check=False, capture_output=True)
    return time.monotonic() - began if done.returncode == 0 else None


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory(prefix="fl-start-") as name:
        place = Path(name)
        clone = place / "clone"
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
        setup = seconds(["make", "setup", f"PYTHON={sys.executable}"], clone, place / "unused")
        first, _ = start_and_stop(place / "var", place / "log")
        later, end = start_and_stop(place / "var", place / "log")
        bare = seconds(
            [
                sys.executable,
                "-c",
                "import os, django; os.environ['DJANGO_SETTINGS_MODULE'] = 'config.settings'; django.setup()",
            ],
            ROOT,
            place / "var",
        )
        command = seconds([sys.executable, "manage.py", "showmigrations"], ROOT, place / "var")
    nothing = None if setup is None else setup + first
    for what, figure, most in (
        ("from nothing to the first page", nothing, 90),
        ("first start to the first page", first, 20),
        ("later start to the first page", later, 6),
        ("Ctrl-C to the end", end, None),
        ("a command with its own engine", command, None),
        ("the same work of Django alone", bare, None),
    ):
        shown = "not measured (packages can't be fetched)" if figure is None else f"{figure:6.2f} s"
        print(f"{what:32} {shown}{'' if most is None else f'   must reach {most} s'}")


if __name__ == "__main__":
    main()
