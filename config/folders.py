"""The data folder: what lies where, with which modes, and secrets made on first use. No Django."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from common.errors import FleetledgerError

ROOM_TO_START_BYTES = 200 * 1024 * 1024


class StartError(FleetledgerError):
    """Something about this machine keeps Fleetledger from starting; the message is one clear line."""


@dataclass(frozen=True)
class DataFolder:
    """Paths below the data folder (``var/``)."""

    path: Path

    @property
    def postgres(self) -> Path:
        """The files of the embedded database."""
        return self.path / "postgres"

    @property
    def run(self) -> Path:
        """Locks, the socket, what is true only while something runs."""
        return self.path / "run"

    @property
    def secrets(self) -> Path:
        """Passwords and keys, one file each."""
        return self.path / "secrets"

    @property
    def broker(self) -> Path:
        """Messages of the broker without a server."""
        return self.path / "broker"

    @property
    def static(self) -> Path:
        """Collected static files."""
        return self.path / "static"

    def make(self) -> None:
        """Make the folders that every process needs; raise StartError in words a person can act on."""
        try:
            if not self.path.exists():
                self.path.mkdir(parents=True, mode=0o700)
            for folder in (self.run, self.secrets):
                make_private_folder(folder)
            with tempfile.TemporaryFile(dir=self.run):
                pass
        except OSError as error:
            raise unwritable(self.path, error) from None


def make_private_folder(folder: Path) -> None:
    """Make ``folder`` for this user only, whatever the umask says."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if folder.stat().st_mode & 0o777 != 0o700:
        folder.chmod(0o700)


def unwritable(path: Path, error: OSError) -> StartError:
    """Say in one line why nothing can be written to ``path``."""
    return StartError(
        "folder_unwritable",
        f"{path} can't be written: {error.strerror or error}.",
        hint="Make room or give the folder to this user, or set FLEETLEDGER_DATA_DIR to another folder.",
    )


def check_room(path: Path) -> None:
    """Raise StartError when the disk is so full that a database would break on it."""
    free = shutil.disk_usage(path).free
    if free < ROOM_TO_START_BYTES:
        raise StartError(
            "disk_full",
            f"The disk of {path} is full: {free // 2**20} MiB free, {ROOM_TO_START_BYTES // 2**20} MiB are needed.",
            hint="Make room, or set FLEETLEDGER_DATA_DIR to another disk.",
        )


@contextlib.contextmanager
def one_at_a_time(path: Path) -> Iterator[None]:
    """Wait until no other process is in here with the same ``path`` (a lock file; a dead process lets go)."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def write_private_file(path: Path, text: str) -> None:
    """Write ``text`` for this user only, whole or not at all."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise unwritable(path.parent, error) from None


def made_once(path: Path) -> str:
    """Give the secret in ``path``; make a random one when there is none. Two processes at once agree on one."""
    with one_at_a_time(path.with_name(".lock")):
        if not path.exists():
            write_private_file(path, secrets.token_urlsafe(64))
    return path.read_text(encoding="utf-8").strip()


def secret_key(folder: DataFolder) -> str:
    """Give the key that signs sessions and links, made at first start."""
    return made_once(folder.secrets / "secret-key")
