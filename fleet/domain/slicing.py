"""How a pull is cut: slices of time and shards of devices, so that no answer and no array grows with the fleet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fleet.domain.packing import HOUR_SECONDS
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.telemetry import WHOLE, Shard
from fleet.domain.timing import MAX_INTERVAL, USUAL_INTERVAL

SERIES_PER_SHARD = 5_000
CELLS_PER_SLICE = 250_000  # devices x marks in memory at once
POINTS_PER_ANSWER = 300_000  # raw points in one answer
MARKS_PER_DAY = 288


@dataclass(frozen=True)
class Slice:
    """Marks ``first`` to ``last`` (epoch seconds).

    Raw points from ``raw_since`` on; ``with_facts``: memory and limits too.
    """

    first: int
    last: int
    raw_since: float
    with_facts: bool

    def starting_at(self, first: int) -> Slice:
        """Give the later part of the slice, with the same look back."""
        return Slice(first, self.last, self.raw_since + first - self.first, self.with_facts)


def plan_shards(devices: int) -> list[Shard]:
    """Halve the fleet until no part has more than SERIES_PER_SHARD devices."""
    shards = [WHOLE]
    while devices > SERIES_PER_SHARD * len(shards):
        shards = [half for shard in shards for half in shard.halves()]
    return shards


def plan_slices(first: int, last: int, per_shard: int, lookback: float, *, needs_facts: bool = True) -> list[Slice]:
    """Cut the marks into slices that end on whole hours and hold at most a day.

    Facts of devices are asked for at whole hours; ``needs_facts``: in every slice.
    """
    count = min(max(CELLS_PER_SLICE // max(per_shard, 1), 12), MARKS_PER_DAY) // 12 * 12
    slices: list[Slice] = []
    start = first
    while start <= last:
        end = min((start - STEP_SECONDS) // HOUR_SECONDS * HOUR_SECONDS + count * STEP_SECONDS, last)
        with_facts = needs_facts or end % HOUR_SECONDS == 0
        slices.append(Slice(start, end, start - STEP_SECONDS - lookback, with_facts))
        start = end + STEP_SECONDS
    return slices


def lookback_seconds(intervals: Sequence[int | None], *, is_backfill: bool) -> float:
    """Give how far before the first sample raw points are needed: to the point before the first one, at most 30 min.

    A live pull that knows every interval needs less: three of the longest, so that a missing owner label is held.
    """
    if is_backfill or not intervals or None in intervals:
        return float(MAX_INTERVAL) + 1
    longest = max(interval for interval in intervals if interval is not None)
    return float(max(120, 3 * longest)) + 1


def raw_seconds(per_shard: int, intervals: Sequence[int | None]) -> float:
    """Give how much time one raw answer may cover."""
    known = [interval for interval in intervals if interval is not None]
    shortest = min(known, default=USUAL_INTERVAL // 2)
    return max(STEP_SECONDS, POINTS_PER_ANSWER * shortest / max(per_shard, 1))
