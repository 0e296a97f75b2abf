"""Who uses the embedded server. Every process holds a shared lock on ``run/lock``; the last one out stops the server.

A holder that dies lets go by dying, since the lock belongs to its open file; then the warden finds nobody and stops the
server. The lock is never inherited by programs that are started (close-on-exec); a forked child shares it and lets go
when it ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from config.embedded import server
from config.embedded.cluster import ensure_cluster
from config.folders import DataFolder, StartError, unwritable

SECONDS_TO_WAIT = 180.0
_pause = threading.Event()


class Hold:
    """This process's part in keeping the server up. ``release`` may be called twice."""

    def __init__(self, folder: DataFolder, descriptor: int, warden: subprocess.Popen[bytes] | None) -> None:
        self.folder, self._descriptor, self._pid, self._warden = folder, descriptor, os.getpid(), warden

    def ensure_running(self) -> bool:
        """Start the server again if it has died; tell whether that was so. Cheap enough to ask every second."""
        if server.server_pid(self.folder) is not None:
            return False
        if self._warden is not None:
            self._warden.poll()
        self._warden = _start(self.folder)
        return True

    def release(self) -> None:
        """Leave. The last one out stops the server before this returns."""
        if self._descriptor < 0:
            return
        descriptor, self._descriptor = self._descriptor, -1
        # A fork shares the lock with its parent: only the process that took it may turn it into another kind.
        if self._pid == os.getpid():
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                server.stop(self.folder)
                self._wait_for_warden()
        os.close(descriptor)
        if self._warden is not None and self._warden.returncode is None:
            self._warden.returncode = 0  # it outlives us on purpose: Popen must not warn that it still runs

    def _wait_for_warden(self) -> None:
        """See our own warden off, so that nothing is left when this process ends."""
        if self._warden is not None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._warden.wait(5)


def hold_engine(folder: DataFolder) -> Hold:
    """Join the users of the embedded server, starting it (and making its files) if it is down.

    Raises StartError, with one clear line, when this machine does not let it start.
    """
    folder.make()
    try:
        descriptor = os.open(_lock_path(folder), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(folder.run, error) from None
    try:
        _lock(descriptor, fcntl.LOCK_SH)
        warden = None if server.is_ready(folder) else _start(folder)
    except BaseException:
        os.close(descriptor)
        raise
    return Hold(folder, descriptor, warden)


def _lock_path(folder: DataFolder) -> Path:
    return folder.run / "lock"


def _start(folder: DataFolder) -> subprocess.Popen[bytes] | None:
    """Start the server, and give its warden; several processes at once get one server."""
    with _start_lock(folder):
        if server.is_ready(folder):
            return None
        try:
            if server.server_pid(folder) is None:
                ensure_cluster(folder)
            return server.start(folder, _lock_path(folder))
        except OSError as error:
            place = f" ({error.filename})" if error.filename else ""
            raise StartError(
                "engine_failed",
                f"The database of {folder.path} can't be started: {error.strerror}{place}.",
                hint="Make room, or give the files to this user.",
            ) from None


@contextlib.contextmanager
def _start_lock(folder: DataFolder) -> Iterator[None]:
    descriptor = os.open(folder.run / "start-lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        _lock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, kind: int) -> None:
    """Take a lock, waiting for one that is just starting or stopping the server."""
    end = time.monotonic() + SECONDS_TO_WAIT
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise StartError(
                    "engine_busy",
                    "Another process has been starting or stopping the database for three minutes.",
                    hint="Look into postgres.log of the run folder.",
                ) from None
            _pause.wait(0.01)
        else:
            return
