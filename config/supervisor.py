"""`make run`: database, web, worker and beat from one command; Ctrl-C ends everything.

The supervisor prepares (migrations, static files, first sign-in), starts the children, starts again what ends, and says
so. It never loads Django itself, so it stays small and nothing but the system can bring it down; when it is killed all
the same, every child ends by itself (`config/serve.py`) and the engine's warden stops the database.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field

import psycopg

from common.errors import FleetledgerError
from config import environment, showing, startup
from config.embedded import Hold
from config.environment import BASE_FOLDER
from config.folders import DataFolder, StartError, write_private_file

FIRST_PORT, LAST_PORT = 8000, 8099
SECONDS_TO_END = 10.0
SECONDS_TO_ANSWER = 60.0
LONGEST_BACK_OFF = 60.0
SECONDS_THAT_COUNT_AS_WELL = 60.0
SECONDS_BETWEEN_LOOKS = 15.0


def say(line: str) -> None:
    """Tell the person at the terminal."""
    with contextlib.suppress(OSError, ValueError):  # the terminal may be gone; that is no reason to end badly
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()


@dataclass
class Child:
    """One program of `config/serve.py`, started again with back-off when it ends."""

    name: str
    variables: dict[str, str]
    descriptors: tuple[int, ...] = ()
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    failures: int = 0
    due_at: float = field(default=0.0)
    may_finish: bool = False  # ending well is the end of its work, not a failure
    is_finished: bool = False

    def start(self, now: float) -> None:
        """Start it in a session of its own: the terminal's Ctrl-C then reaches only the supervisor."""
        self.process = subprocess.Popen(
            [sys.executable, "-m", "config.serve", self.name, str(os.getpid())],
            cwd=BASE_FOLDER,
            env={**os.environ, **self.variables},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
            pass_fds=self.descriptors,
        )
        self.started_at = now

    def check(self, now: float) -> None:
        """Start it again when it has ended and its pause is over."""
        if self.process is None:
            if now >= self.due_at and not self.is_finished:
                self.start(now)
            return
        code = self.process.poll()
        if code is None:
            return
        self._end_group(self.process.pid)
        if code == 0 and self.may_finish:
            self.process, self.is_finished = None, True
            return
        if now - self.started_at > SECONDS_THAT_COUNT_AS_WELL:
            self.failures = 0
        pause = min(2.0**self.failures, LONGEST_BACK_OFF)
        self.failures += 1
        self.process, self.due_at = None, now + pause
        say(f"{self.name} ended ({ending(code)}); starting it again in {pause:.0f} s")

    def ask_to_end(self) -> None:
        """Send SIGTERM."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()

    def finish(self) -> None:
        """Kill what is left of it, and see it off."""
        if self.process is not None:
            self._end_group(self.process.pid)
            self.process.wait()

    @staticmethod
    def _end_group(pid: int) -> None:
        """Kill the program's whole group: itself if it hangs, and what it may have left behind."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def ending(code: int) -> str:
    """Say how a process ended."""
    return f"exit {code}" if code >= 0 else signal.Signals(-code).name


class Supervisor:
    """Everything between the first line and the last."""

    def __init__(self, found: environment.Environment, folder: DataFolder) -> None:
        self.found, self.folder, self.has_address = found, folder, found.is_set("FLEETLEDGER_URL")
        self.stop = threading.Event()
        self.children: list[Child] = []
        self.engine_failures = 0
        self.engine_due_at = 0.0
        self.shown = showing.Shown(is_demo=False)
        self.look_due_at = 0.0

    def run(self, hold: Hold | None) -> int:
        """Prepare, serve until told to stop, end everything; return the exit code."""
        self.shown = showing.choose(self.found, self.folder)
        demo = {"FLEETLEDGER_DEMO": "on" if self.shown.is_demo else "off"}
        if self._prepare(demo):
            return 1
        with listening() as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}"
            variables = demo if self.has_address else {"FLEETLEDGER_URL": url, **demo}
            os.set_inheritable(listener.fileno(), True)
            web = {"WEB_SOCKET": str(listener.fileno()), **variables}
            self.children = [
                Child("web", web, (listener.fileno(),)),
                Child("worker", variables),
                Child("beat", variables),
            ]
            if self.shown.is_demo:
                self.children.append(Child("demo", variables, may_finish=True))
            try:
                for child in self.children:
                    child.check(time.monotonic())
                self._announce(url)
                while not self.stop.wait(0.2):
                    self._check(hold)
            finally:
                self._end()
        return 0

    def _prepare(self, variables: dict[str, str]) -> int:
        """Run `manage.py prepare` (migrations, static files, first sign-in); it speaks for itself."""
        command = [sys.executable, str(BASE_FOLDER / "manage.py"), "prepare"]
        process = subprocess.Popen(
            command,
            cwd=BASE_FOLDER,
            env={**os.environ, **variables},
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        while process.poll() is None:
            if self.stop.wait(0.05):
                process.terminate()
                process.wait()
                return 1
        return process.returncode

    def _announce(self, url: str) -> None:
        """Print the URL once it answers."""
        write_private_file(self.folder.run / "url", url)
        end = time.monotonic() + SECONDS_TO_ANSWER
        while not answers(url):
            if self.stop.wait(0.05):
                return
            self._check(None)
            if time.monotonic() > end:
                say(f"{url} does not answer yet")
                return
        if self.shown.line:
            say(self.shown.line)
        say(f"Fleetledger is at {url} (Ctrl-C stops everything)")

    def _check(self, hold: Hold | None) -> None:
        now = time.monotonic()
        for child in self.children:
            child.check(now)
        if hold is not None and now >= self.engine_due_at:
            self._check_engine(hold, now)
        if self.shown.is_demo and now >= self.look_due_at:
            self._look_for_sources(now)

    def _check_engine(self, hold: Hold, now: float) -> None:
        """Start the database again when it has died."""
        self.engine_due_at = now + 1.0
        try:
            if hold.ensure_running():
                say("the database had ended; it was started again")
            self.engine_failures = 0
        except FleetledgerError as error:
            self.engine_failures += 1
            pause = min(2.0**self.engine_failures, LONGEST_BACK_OFF)
            self.engine_due_at = now + pause
            say(f"the database has ended: {error.message} Trying again in {pause:.0f} s")

    def _look_for_sources(self, now: float) -> None:
        """Say once that the real database has something to show now."""
        self.look_due_at = now + SECONDS_BETWEEN_LOOKS
        with contextlib.suppress(psycopg.Error):
            if showing.is_connected(self.found, self.folder):
                self.look_due_at = float("inf")
                say("A source or account of yours is connected now: stop this and start it again to see your fleet.")

    def _end(self) -> None:
        """End the children in reverse order of need; beat first, so that nothing new begins."""
        self.stop.clear()  # from here on a second Ctrl-C means: at once
        say("stopping")
        end = time.monotonic() + SECONDS_TO_END
        for child in reversed(self.children):
            child.ask_to_end()
        while any(child.process and child.process.poll() is None for child in self.children):
            if time.monotonic() > end or self.stop.wait(0.05):
                break
        for child in reversed(self.children):
            child.finish()
        (self.folder.run / "url").unlink(missing_ok=True)


def answers(url: str) -> bool:
    """Tell whether the web server answers at all; what it answers is its own business."""
    try:
        with urllib.request.urlopen(f"{url}/healthz", timeout=5):  # noqa: S310 - our own http address
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False


@contextlib.contextmanager
def listening() -> Iterator[socket.socket]:
    """Listen on the first free port; web gets this very socket, so nobody can take the port in between."""
    for port in range(FIRST_PORT, LAST_PORT + 1):
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
            listener.listen(256)
        except OSError:
            listener.close()
            continue
        if port != FIRST_PORT:
            say(f"Port {FIRST_PORT} is in use; taking {port}")
        try:
            yield listener
        finally:
            listener.close()
        return
    raise StartError("no_port", f"Ports {FIRST_PORT} to {LAST_PORT} are all in use.", hint="End something else.")


@contextlib.contextmanager
def the_only_one(folder: DataFolder) -> Iterator[None]:
    """Be the only supervisor of this data folder, else say where the other one is."""
    folder.make()
    descriptor = os.open(folder.run / "supervisor-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        with contextlib.suppress(OSError):
            url = (folder.run / "url").read_text(encoding="utf-8")
            raise StartError("already_running", f"Fleetledger is already running at {url}.") from None
        raise StartError("already_running", "Fleetledger is already starting here.") from None
    else:
        yield
    finally:
        os.close(descriptor)


def main(arguments: list[str]) -> int:
    """Run until told to stop."""
    parser = argparse.ArgumentParser(prog="config.supervisor", description=__doc__.splitlines()[0])
    parser.add_argument(
        "--end-with-parent", action="store_true", help="end when the process that started this one ends"
    )
    options = parser.parse_args(arguments)
    if options.end_with_parent and sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGTERM)
    hold = None
    try:
        found = environment.read()
        folder = DataFolder(found.data_folder)
        supervisor = Supervisor(found, folder)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: supervisor.stop.set())
        with the_only_one(folder):
            hold = startup.begin()
            code = supervisor.run(hold)
            if hold is not None:
                hold.release()
            return code
    except FleetledgerError as error:
        return startup.report(error)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
