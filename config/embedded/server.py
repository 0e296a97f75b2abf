"""Start, recognise and stop the server of a data folder. Who may do so when is `hold.py`'s business."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from config.embedded.binaries import MAJOR, death_signal_prefix, program_folder, user_prefix
from config.embedded.cluster import data_major, failure
from config.folders import DataFolder, StartError, make_private_folder, write_private_file

SOCKET_NAME = ".s.PGSQL.5432"
LONGEST_SOCKET_PATH = 100  # bytes; the system's limit is 104 to 108
SECONDS_TO_START = 120.0  # recovery after a crash may take a while
_SETTINGS = {
    "listen_addresses": "",
    "unix_socket_permissions": "0700",
    "shared_buffers": "256MB",
    "max_connections": "100",
    "wal_level": "minimal",  # nobody replicates from here; bulk loads into fresh partitions are cheaper
    "max_wal_senders": "0",
    "jit": "off",  # pages ask many small questions
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_min_messages": "warning",
    "log_checkpoints": "off",
    "cluster_name": "fleetledger",
}
LONGEST_LOG_BYTES = 2**20
_NO_PID = str(2**31 - 1)
_STILL_IN_USE = "pre-existing shared memory block"
_pause = threading.Event()  # never set: wait(seconds) is a pause


def socket_folder(folder: DataFolder) -> Path:
    """Where the socket is, or would be; settings of every process of this data folder find the same one."""
    with contextlib.suppress(OSError):
        remembered = Path((folder.run / "socket-folder").read_text(encoding="utf-8"))
        if _is_private(remembered):
            return remembered
    return folder.run


def _is_private(path: Path) -> bool:
    """Tell whether ``path`` is a folder of this user that nobody else can enter."""
    try:
        status = path.lstat()
    except OSError:
        return False
    return status.st_uid == os.geteuid() and status.st_mode & 0o170777 == 0o040700


def _choose_socket_folder(folder: DataFolder) -> Path:
    """Give the run folder, or a short fresh one when a socket's path there would be longer than systems allow."""
    if len(os.fsencode(folder.run / SOCKET_NAME)) <= LONGEST_SOCKET_PATH:
        (folder.run / "socket-folder").unlink(missing_ok=True)
        return folder.run
    known = socket_folder(folder)
    if known == folder.run:
        known = Path(tempfile.mkdtemp(prefix="fl-", dir="/tmp"))
        write_private_file(folder.run / "socket-folder", str(known))
    return known


def is_ready(folder: DataFolder) -> bool:
    """Tell whether the server of a data folder takes connections now."""
    return takes_connections(folder.postgres, socket_folder(folder))


def takes_connections(data: Path, sockets: Path) -> bool:
    """Tell whether a server says that it is ready, and its socket agrees (a killed one leaves both files behind)."""
    lines = _pid_file(data)
    if len(lines) < 8 or lines[7].strip() != "ready":
        return False
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(sockets / SOCKET_NAME))
        except OSError:
            return False
    return True


def _pid_file(data: Path) -> list[str]:
    try:
        return (data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def server_pid(folder: DataFolder) -> int | None:
    """Give the pid of the living server of this folder; a dead one's file or a pid in other use is None."""
    lines = _pid_file(folder.postgres)
    if not lines or not lines[0].strip().isdigit():
        return None
    pid = int(lines[0])
    return pid if str(folder.postgres) in _arguments(pid) else None


def _arguments(pid: int) -> list[str]:
    """Give the command line of a process, [] when there is none."""
    path = Path(f"/proc/{pid}/cmdline")
    if Path("/proc/self").exists():
        try:
            return path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            return []
    found = subprocess.run(["ps", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.split()


def start(folder: DataFolder, lock_path: Path) -> subprocess.Popen[bytes] | None:
    """Start the server under its warden and wait until it takes connections. The caller holds the start lock.

    Give the warden, or None when another process had just started the server.
    """
    if not _wait_for_other(folder):
        return None
    sockets = _choose_socket_folder(folder)
    make_private_folder(sockets)
    end = time.monotonic() + SECONDS_TO_START
    while True:
        _forget_dead_server(folder, sockets)
        warden, told = _try_to_start(folder, lock_path, sockets, end)
        if warden is not None:
            return warden
        if _STILL_IN_USE not in told or time.monotonic() > end:
            raise failure(told, what="start the database")
        _pause.wait(0.1)  # sessions of a killed server notice within moments that it is gone


def _forget_dead_server(folder: DataFolder, sockets: Path) -> None:
    """Keep what a killed server left from blocking a start, when its pid is a zombie's or another process's by now.

    The file stays, with a pid that nothing can have: PostgreSQL finds in it the shared memory of the dead server, and
    waits for sessions that still use it.
    """
    lines = _pid_file(folder.postgres)
    if lines:
        write_private_file(folder.postgres / "postmaster.pid", "\n".join([_NO_PID, *lines[1:], ""]))
    (sockets / SOCKET_NAME).unlink(missing_ok=True)
    (sockets / f"{SOCKET_NAME}.lock").unlink(missing_ok=True)


def _try_to_start(
    folder: DataFolder, lock_path: Path, sockets: Path, end: float
) -> tuple[subprocess.Popen[bytes] | None, str]:
    """Give the warden of a server that is ready, or None and what the server said before it gave up."""
    log_path = folder.run / "postgres.log"
    if log_path.exists() and log_path.stat().st_size > LONGEST_LOG_BYTES:
        log_path.replace(log_path.with_suffix(".log.old"))
    settings = _SETTINGS | {"unix_socket_directories": str(sockets)}
    server = [str(program_folder(data_major(folder) or MAJOR) / "postgres"), "-D", str(folder.postgres)]
    server += [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    command = [sys.executable, "-I", "-S", str(Path(__file__).with_name("warden.py")), str(lock_path)]
    with log_path.open("ab") as log:
        log_path.chmod(0o600)
        begin = log.tell()
        warden = subprocess.Popen(
            [*command, *user_prefix(), *death_signal_prefix(), *server],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            cwd="/",
        )
    while not is_ready(folder):
        if warden.poll() is not None or time.monotonic() > end:
            with log_path.open("rb") as log:
                log.seek(begin)
                return None, log.read().decode(errors="replace")
        _pause.wait(0.01)
    return warden, ""


def _wait_for_other(folder: DataFolder) -> bool:
    """Wait for a server that is just starting or stopping; tell whether a new one is to be started."""
    end = time.monotonic() + SECONDS_TO_START
    while server_pid(folder) is not None:
        if is_ready(folder):
            return False
        if time.monotonic() > end:
            raise StartError(
                "engine_stuck",
                f"The database of {folder.path} neither starts nor stops (process {server_pid(folder)}).",
                hint="Look into postgres.log of the run folder.",
            )
        _pause.wait(0.02)
    return True


def stop(folder: DataFolder, *, seconds: float = 60.0) -> None:
    """Stop the server and wait until its files are written. The caller holds the lock alone."""
    pid = server_pid(folder)
    if pid is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGINT)
    end = time.monotonic() + seconds
    while server_pid(folder) is not None and time.monotonic() < end:
        _pause.wait(0.005)
