"""A broker without a server: messages are files below ``var/broker``, for the one worker of `make run`.

    messages/   waiting; a name begins with the time it was sent, so order survives a reboot
    claimed/    being read; whoever renames a message into it has it, nobody else can
    bad/        unreadable or foreign; kept for a person, counted in /metrics and by doctor

A message is written under a hidden name and renamed when it is whole, so a crash leaves no half message. With
CELERY_BROKER_URL set, Redis is used and nothing here runs.
"""

from __future__ import annotations

import json
import time
import uuid
from collections import deque
from pathlib import Path
from queue import Empty
from typing import Any

import structlog
from kombu.transport import virtual

from config.folders import make_private_folder

log = structlog.get_logger(__name__)
PREFIX_OF_HALF = ".half-"
SECONDS_UNTIL_HALF_IS_DEAD = 3600
LONGEST_WAIT_SECONDS = 0.3


class Channel(virtual.Channel):
    """Moves messages between folders. Bindings live in memory: every process declares the same ones."""

    supports_fanout = False
    do_restore = True

    def __init__(self, connection: Any, **options: Any) -> None:
        super().__init__(connection, **options)
        self.folder = Path(connection.client.transport_options["folder"])
        make_folders(self.folder)
        self._seen: dict[str, deque[str]] = {}

    def _put(self, queue: str, message: dict[str, Any], **_options: Any) -> None:
        """Write whole, then rename into view."""
        name = f"{time.time_ns():020d}-{uuid.uuid4().hex}.{queue}.json"
        half = self.folder / "messages" / f"{PREFIX_OF_HALF}{name}"
        half.touch(mode=0o600)
        half.write_text(json.dumps(message), encoding="utf-8")
        half.replace(self.folder / "messages" / name)

    def _get(self, queue: str, timeout: float | None = None) -> dict[str, Any]:
        """Claim and read the oldest message of ``queue``; raise Empty when there is none."""
        names = self._seen.setdefault(queue, deque())
        if not names:
            names.extend(waiting(self.folder, queue))
        while names:
            claimed = self._claim(names.popleft())
            message = None if claimed is None else self._read(claimed)
            if message is not None:
                return message
        raise Empty

    def _claim(self, name: str) -> Path | None:
        """Rename into ``claimed``; None when another process was quicker."""
        target = self.folder / "claimed" / name
        try:
            (self.folder / "messages" / name).rename(target)
        except FileNotFoundError:
            return None
        return target

    def _read(self, claimed: Path) -> dict[str, Any] | None:
        """Read and remove a claimed message; move it aside when it is none of ours."""
        try:
            message = json.loads(claimed.read_text(encoding="utf-8"))
            is_ours = message["content-type"] == "application/json" and isinstance(message["properties"], dict)
        except (ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            claimed.replace(self.folder / "bad" / claimed.name)
            log.warning("broker_message_unreadable", file=str(self.folder / "bad" / claimed.name))
            return None
        claimed.unlink()
        return dict(message)

    def _size(self, queue: str) -> int:
        """Count the waiting messages of ``queue``."""
        return len(waiting(self.folder, queue))

    def _purge(self, queue: str) -> int:
        """Remove the waiting messages of ``queue``; give their number."""
        names = waiting(self.folder, queue)
        for name in names:
            (self.folder / "messages" / name).unlink(missing_ok=True)
        return len(names)


class Transport(virtual.Transport):
    """kombu's entry."""

    Channel = Channel
    default_port = 0
    driver_type = "files"
    driver_name = "files"
    default_connection_params = {"port": 0}  # no host: kombu would miss one and say so

    # The two base classes disagree about the signature; this is that of the nearer one.
    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # type: ignore[override]
        """Wait at most a moment for a message, so that a worker that is told to end hears it soon."""
        super().drain_events(connection, timeout=min(timeout or LONGEST_WAIT_SECONDS, LONGEST_WAIT_SECONDS))

    def driver_version(self) -> str:
        """Give the version that kombu shows."""
        return "1"


def make_folders(folder: Path) -> None:
    """Make the three folders, for this user only."""
    for path in (folder, folder / "messages", folder / "claimed", folder / "bad"):
        make_private_folder(path)


def waiting(folder: Path, queue: str) -> list[str]:
    """Give the names of the waiting messages of ``queue``, oldest first."""
    end = f".{queue}.json"
    return sorted(
        path.name
        for path in (folder / "messages").iterdir()
        if path.name.endswith(end) and not path.name.startswith(PREFIX_OF_HALF)
    )


def bad_messages(folder: Path) -> int:
    """Count the messages that were moved aside."""
    try:
        return sum(1 for _ in (folder / "bad").iterdir())
    except FileNotFoundError:
        return 0


def sweep(folder: Path) -> int:
    """Put back what a killed worker had claimed and drop what a killed sender left half; give the number put back.

    Called by the worker before it takes its first message: there is one worker, so nobody else has claimed anything.
    """
    make_folders(folder)
    claimed = list((folder / "claimed").iterdir())
    for path in claimed:
        path.replace(folder / "messages" / path.name)
    oldest = time.time() - SECONDS_UNTIL_HALF_IS_DEAD
    for path in (folder / "messages").glob(f"{PREFIX_OF_HALF}*"):
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)
    return len(claimed)
