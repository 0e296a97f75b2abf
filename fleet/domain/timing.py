"""From the times of raw points to points, first, last and minutes of samples.

And the scrape interval learned from gaps.

A raw point stands for the time back to the one before it, at most one interval; the first one of a device for
nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet.domain.samples import STEP_SECONDS

MIN_INTERVAL, MAX_INTERVAL, USUAL_INTERVAL = 10, 1800, 30
"""Seconds: the bounds of a learned interval, and what is assumed where nothing is known yet."""
ENOUGH_GAPS = 2
DAY_HOURS = 24

Gaps = Mapping[int, Mapping[int, int]]
"""Hour (epoch hours) -> gap between consecutive raw points (whole seconds) -> how often it was seen."""


@dataclass(frozen=True)
class Points:
    """Distinct raw points of many devices, sorted by (row, time).

    ``row`` int64 [P], ``at`` float64 [P] epoch seconds.
    """

    row: NDArray[np.int64]
    at: NDArray[np.float64]


@dataclass(frozen=True)
class Timing:
    """What the points say about each sample; all [rows, marks], as in SampleBlock."""

    points: NDArray[np.int32]
    first_at: NDArray[np.float64]
    last_at: NDArray[np.float64]
    minutes: NDArray[np.float32]


def unite(row: NDArray[np.int64], at: NDArray[np.float64]) -> Points:
    """Sort points and count the same time of the same device once (pods, replicas and exporters repeat it)."""
    order = np.lexsort((at, row))
    row, at = row[order], at[order]
    if len(row):
        fresh = np.ones(len(row), dtype=bool)
        fresh[1:] = (row[1:] != row[:-1]) | (at[1:] - at[:-1] > 5e-4)
        row, at = row[fresh], at[fresh]
    return Points(row, at)


def time_samples(
    points: Points, marks: NDArray[np.int64], interval: NDArray[np.int32], seen_before: NDArray[np.float64]
) -> Timing:
    """Lay ``points`` on the grid of ``marks`` (seconds, 300 apart).

    ``interval`` [rows, marks] in seconds. ``seen_before`` [rows]: a time at which the device is known to have been
    seen, NaN for never; a first point later than it stands for the time back to it, at most one interval.
    """
    shape = interval.shape
    rows, count = shape
    row, at = points.row, points.at
    slot = np.ceil((at - marks[0]) / STEP_SECONDS - 1e-9).astype(np.int64)
    inside = (slot >= 0) & (slot < count)
    gap = np.zeros(len(at))
    if len(at):
        follows = np.zeros(len(at), dtype=bool)
        follows[1:] = row[1:] == row[:-1]
        gap[1:] = np.where(follows[1:], at[1:] - at[:-1], 0)
        before = seen_before[row]
        known = ~follows & (before < at - 5e-4)
        gap = np.where(known, at - before, gap)
    row, at, slot, gap = row[inside], at[inside], slot[inside], gap[inside]
    cell = row * count + slot
    stands_for = np.minimum(gap, interval[row, slot]) / 60
    size = rows * count
    points_of = np.bincount(cell, minlength=size).astype(np.int32)
    minutes = np.bincount(cell, weights=stands_for, minlength=size).astype(np.float32)
    first, last = np.full(size, np.nan), np.full(size, np.nan)
    last[cell] = at  # sorted: the last assignment wins
    first[cell[::-1]] = at[::-1]
    return Timing(points_of.reshape(shape), first.reshape(shape), last.reshape(shape), minutes.reshape(shape))


def count_gaps(
    times: Mapping[str, Sequence[NDArray[np.float64]]], since: Mapping[str, float]
) -> dict[str, dict[int, dict[int, int]]]:
    """Count the gaps between consecutive points of each target's series (sorted times), by the hour of the later one.

    Only gaps whose later point is after the target's ``since`` count, so that a time range read twice is counted once.
    """
    found: dict[str, dict[int, dict[int, int]]] = {name: {} for name in times}
    names = list(times)
    parts = [(number, one) for number, name in enumerate(names) for one in times[name] if len(one) > 1]
    if not parts:
        return found
    at, lengths = np.concatenate([one for _, one in parts]), [len(one) for _, one in parts]
    series = np.repeat(np.arange(len(parts)), lengths)
    target = np.repeat([number for number, _ in parts], lengths)[1:]
    gap, later = np.diff(at), at[1:]
    fresh = (series[1:] == series[:-1]) & (gap > 0) & (later > np.array([since[name] for name in names])[target])
    rows = np.stack([target[fresh], (later[fresh] - 1e-3) // 3600, np.rint(gap[fresh])]).astype(np.int64)
    for (number, hour, seconds), count in _counted(rows):
        found[names[number]].setdefault(hour, {})[seconds] = count
    return found


def _counted(rows: NDArray[np.int64]) -> Iterator[tuple[list[int], int]]:
    """Give each distinct column of ``rows`` and how often it is there."""
    if not rows.size:
        return
    rows = rows[:, np.lexsort(rows)]
    first = np.flatnonzero(np.concatenate(([True], (rows[:, 1:] != rows[:, :-1]).any(axis=0))))
    counts = np.diff(np.concatenate((first, [rows.shape[1]])))
    yield from zip(rows[:, first].T.tolist(), counts.tolist(), strict=True)


def merge_gaps(old: Gaps, new: Gaps, *, replace: bool = False, hours: int = DAY_HOURS) -> dict[int, dict[int, int]]:
    """Add two counts, or put the new hours in the place of the old ones; the newest ``hours`` with data are kept."""
    newest = max((*old, *new), default=0)
    merged: dict[int, dict[int, int]] = {}
    for hour in {*old, *new}:
        if hour > newest - hours:
            kept = {} if replace and hour in new else old.get(hour, {})
            merged[hour] = dict(Counter(dict(kept)) + Counter(dict(new.get(hour, {}))))
    return merged


def learn_interval(gaps: Gaps, hour: int, need: int = ENOUGH_GAPS) -> int | None:
    """Give the median gap over the 24 hours up to and with ``hour``, within 10 s and 30 min; None for want of gaps."""
    counted: Counter[int] = Counter()
    for at, counts in gaps.items():
        if hour - DAY_HOURS < at <= hour:
            counted.update(counts)
    total = sum(counted.values())
    if total < need:
        return None
    middle, passed = (total + 1) // 2, 0
    for gap in sorted(counted):
        passed += counted[gap]
        if passed >= middle:
            return min(max(gap, MIN_INTERVAL), MAX_INTERVAL)
    return None
