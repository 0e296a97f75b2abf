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
    """Tell whether the server takes connections now."""
    lines = _pid_file(folder)
    return len(lines) > 7 and lines[7].strip() == "ready" and _answers(folder)


def _answers(folder: DataFolder) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(socket_folder(folder) / SOCKET_NAME))
        except OSError:
            return False
    return True


def _pid_file(folder: DataFolder) -> list[str]:
    try:
        return (folder.postgres / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def server_pid(folder: DataFolder) -> int | None:
    """Give the pid of the living server of this folder; a dead one's file or a pid in other use is None."""
    lines = _pid_file(folder)
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


def start(folder: DataFolder, lock_path: Path) -> None:
    """Start the server under its warden and wait until it takes connections. The caller holds the start lock."""
    if not _wait_for_other(folder):
        return
    (folder.postgres / "postmaster.pid").unlink(missing_ok=True)  # nobody is behind it any more
    sockets = _choose_socket_folder(folder)
    make_private_folder(sockets)
    log_path = folder.run / "postgres.log"
    if log_path.exists() and log_path.stat().st_size > 2**20:
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
    _wait_until_ready(folder, warden, log_path, begin)


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


def _wait_until_ready(folder: DataFolder, warden: subprocess.Popen[bytes], log_path: Path, begin: int) -> None:
    end = time.monotonic() + SECONDS_TO_START
    while not is_ready(folder):
        if warden.poll() is not None or time.monotonic() > end:
            with log_path.open("rb") as log:
                log.seek(begin)
                raise failure(log.read().decode(errors="replace"), what="start the database")
        _pause.wait(0.01)
    warden.returncode = 0  # it outlives us on purpose: Popen must not warn that it still runs


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
