"""The real clock: read at the edge, once per run, and passed down as ``now``. Nothing below a doorway calls it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

BEHIND = timedelta(minutes=2)  # live runs stay behind: the newest scrapes may not be stored yet


def real_now() -> datetime:
    """Give the time, aware, in UTC."""
    return datetime.now(UTC)
