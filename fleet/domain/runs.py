"""Runs of a fact over time (who held a device, on which host it stood), from points seen in a window.

A window replaces what was known inside it, keeps what lies outside, and joins what touches.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key")

MISSED_SCRAPES = 2
"""A fact that is missing on so many scrapes in a row, and back after them, never went away."""


@dataclass(frozen=True)
class Run(Generic[Key]):
    """``key`` held from ``start`` to ``end`` (epoch seconds); None: still, as far as is known."""

    key: Key
    start: float
    end: float | None


def runs_of(points: NDArray[np.float64], seen: Mapping[Key, NDArray[np.float64]], interval: float) -> list[Run[Key]]:
    """Give the runs of each key among the device's sorted ``points``.

    ``seen``: sorted times at which a key was there.

    A run starts at the point before its first one (at most one interval back, else at the first one) and ends at its
    last one; it is open when at most two points follow.
    """
    found: list[Run[Key]] = []
    for key, times in seen.items():
        at = np.searchsorted(points, times - 5e-4)
        breaks = np.flatnonzero(np.diff(at) > MISSED_SCRAPES + 1)
        starts = np.concatenate(([0], breaks + 1))
        ends = np.concatenate((breaks, [len(at) - 1]))
        for first, last in zip(at[starts], at[ends], strict=True):
            start = float(points[first])
            if first > 0:
                start = max(float(points[first - 1]), start - interval)
            is_open = len(points) - 1 - last <= MISSED_SCRAPES
            found.append(Run(key, start, None if is_open else float(points[last])))
    return found


def single_runs(times: NDArray[np.float64], keys: Sequence[Key]) -> list[Run[Key]]:
    """Give the runs of a fact with one value at a time (``keys`` beside sorted ``times``); the last one is open."""
    found: list[Run[Key]] = []
    start = 0
    for i in range(1, len(keys) + 1):
        if i == len(keys) or keys[i] != keys[start]:
            end = None if i == len(keys) else float(times[i])
            found.append(Run(keys[start], float(times[start]), end))
            start = i
    return found


def replace_window(
    old: Iterable[Run[Key]], new: Iterable[Run[Key]], *, since: float, until: float, is_newest: bool, tolerance: float
) -> list[Run[Key]]:
    """Put the runs of the window ``[since, until]`` into those known before.

    Old runs are cut to what lies outside; after the window only when it is not the newest data (``is_newest``), else
    what the window says is all there is. An open run of an older window ends with it unless a run of its key follows.
    Runs of one key that touch within ``tolerance`` seconds are one.
    """
    pieces: list[Run[Key]] = []
    for run in old:
        end = np.inf if run.end is None else run.end
        if run.start < since:
            pieces.append(Run(run.key, run.start, float(min(end, since))))
        if end > until and not is_newest:
            pieces.append(Run(run.key, max(run.start, until), run.end))
    pieces += [run if run.end is not None or is_newest else Run(run.key, run.start, until) for run in new]
    by_key: dict[Key, list[Run[Key]]] = {}
    for run in pieces:
        by_key.setdefault(run.key, []).append(run)
    return [run for found in by_key.values() for run in _join(found, tolerance)]


def end_in_time(old: Iterable[Run[Key]], seen: Sequence[Run[Key]], since: float) -> list[Run[Key]]:
    """End old runs where the points before the window show it: ``seen`` are the runs among all points that were read.

    A run that was open at the last reading may have ended just before this window begins.
    """
    ended: list[Run[Key]] = []
    for run in old:
        goes_on = run.start < since and (run.end is None or run.end > since)
        own = [one for one in seen if one.key == run.key]
        if goes_on and not any(one.start <= since and (one.end is None or one.end >= since) for one in own):
            ends = [one.end for one in own if one.end is not None and run.start < one.end < since]
            ended.append(Run(run.key, run.start, max(ends)) if ends else run)
        else:
            ended.append(run)
    return ended


def _join(runs: list[Run[Key]], tolerance: float) -> list[Run[Key]]:
    joined: list[Run[Key]] = []
    for run in sorted(runs, key=lambda run: run.start):
        last = joined[-1] if joined else None
        if last is not None and (last.end is None or run.start <= last.end + tolerance):
            end = None if last.end is None or run.end is None else max(last.end, run.end)
            joined[-1] = Run(last.key, last.start, end)
        else:
            joined.append(run)
    return joined
