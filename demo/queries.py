"""How far the demo fleet's history is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from common.periods import parse_moment
from fleet.queries.sources import source_spec
from people.queries import installation, is_replaying

NAME = "demo"
"""Of the source, and its kind."""
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Progress:
    """``done`` of ``days`` whole days are there; ``is_filling``: the rest is on its way."""

    done: int
    days: int
    is_filling: bool


def history_start() -> datetime | None:
    """Give the midnight from which the story is told; None before it was begun."""
    spec = source_spec(NAME)
    return parse_moment(spec["since"]) if spec else None


def progress(now: datetime) -> Progress:
    """Say how much of the history up to ``now`` is there."""
    start = history_start()
    if start is None:
        return Progress(0, 0, is_filling=True)
    until = installation().world_at or start
    return Progress(max(0, (until - start) // DAY), (now - start) // DAY, is_replaying())
