"""How time passes while messages are sent: it stands still under `--at` and replay, it runs live."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True)
class Pace:
    """``elapsed`` gives the time since the pass began; ``sleep`` waits for seconds (None: it never waits).

    ``given_time`` says that the time is a given one, not the clock's.
    """

    elapsed: Callable[[], timedelta]
    sleep: Callable[[float], None] | None
    given_time: bool
    longest: timedelta

    def at(self, now: datetime) -> datetime:
        """Give the present moment of a pass that began at ``now``."""
        return now + self.elapsed()

    @property
    def is_over(self) -> bool:
        """Whether the pass should begin nothing new."""
        return self.elapsed() >= self.longest


STILL = Pace(elapsed=timedelta, sleep=None, given_time=True, longest=timedelta(days=1))
"""Given time: everything of a pass happens at its ``now``."""


LONGEST_PASS = timedelta(seconds=8)
"""A live pass begins nothing after this: the next one comes ten seconds after it."""


def running(monotonic: Callable[[], float], sleep: Callable[[float], None]) -> Pace:
    """Give the pace of a live pass that begins now: time runs, and it waits where a channel wants a rest."""
    began = monotonic()
    return Pace(lambda: timedelta(seconds=monotonic() - began), sleep, given_time=False, longest=LONGEST_PASS)
