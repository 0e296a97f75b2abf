"""Metering: what every GPU did, from its samples, in whole milliseconds.

A sample at mark ``m`` stands for ``(m - minutes, m]``: first for its own five minutes, and what exceeds them (slow
scrapes, or the jitter of an interval that does not divide five minutes) for what the samples before left open. Time
that no sample stands for is unknown. docs/reference/money.md has the rules in words with worked tables; tests repeat
them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from fleet.domain.activity import activity_pct
from fleet.domain.idle_rule import GpuFacts, IdleRule
from fleet.domain.quiet import read_samples
from fleet.domain.samples import STEP_SECONDS, SampleBlock

STEP_MS = STEP_SECONDS * 1000
HOUR_MS = 3_600_000
LOW_PCT = 25.0  # working below this mean activity is `low`

Milliseconds = NDArray[np.int64]
Codes = NDArray[np.int8]
Flags = NDArray[np.bool_]


class Metered(IntEnum):
    """The states that a GPU's running time is metered in; the numbers are columns of arrays."""

    WORKING = 0  # without low
    LOW = 1
    HELD = 2
    EMPTY = 3
    UNKNOWN = 4


STATES = len(Metered)


def sample_states(block: SampleBlock, facts: GpuFacts, *, is_idle: Flags) -> Codes:
    """Give the `Metered` state [G, N] of each sample; where there is no point it means nothing.

    ``is_idle`` [G, N]: within an idle run of the organisation's rule. Else a sample that tells nothing is unknown, and
    all other time is working: whether a quiet sample is idle is for the idle clock to say, not for the sample.
    """
    reading = read_samples(block, facts, IdleRule())
    with np.errstate(invalid="ignore"):
        busy = np.where(activity_pct(block, facts.is_mig) < LOW_PCT, Metered.LOW, Metered.WORKING)
    awake = np.where(reading.silent, Metered.UNKNOWN, busy)
    idle = np.where(reading.memory_held | reading.memory_unknown, Metered.HELD, Metered.EMPTY)
    return np.where(is_idle, idle, awake).astype(np.int8)


def mark_runs(
    marks: Milliseconds, gpus: int, rows: Milliseconds, since: NDArray[np.float64], until: NDArray[np.float64]
) -> Flags:
    """Tell [G, N] which marks lie in a run ``(since, until]``; all in epoch seconds, ``until`` inf while open.

    ``rows`` [R] is the GPU's row of each run.
    """
    edges = np.zeros((gpus, len(marks) + 1), dtype=np.int32)
    np.add.at(edges, (rows, np.searchsorted(marks, since, side="right")), 1)
    np.add.at(edges, (rows, np.searchsorted(marks, until, side="right")), -1)
    return np.asarray(np.cumsum(edges, axis=1)[:, :-1] > 0)


@dataclass(frozen=True)
class Coverage:
    """What each five minutes of each GPU hold: first unknown time, then ``back_ms`` of a later sample, then ``own_ms``.

    ``start_ms`` is the epoch time of the first cell; the arrays are [G, N], ``before`` [G, N + 1, 5] the time in
    each state
    from ``start_ms`` to the start of the cell.
    """

    start_ms: int
    stands_for_ms: Milliseconds
    own_ms: Milliseconds
    own_state: Codes
    back_ms: Milliseconds
    back_state: Codes
    before: Milliseconds


def cover(block: SampleBlock, states: Codes) -> Coverage:
    """Lay the samples out in time. The block should reach one scrape interval further than what is measured."""
    stands_for = np.where(block.points > 0, np.rint(block.minutes.astype(np.float64) * 60_000), 0).astype(np.int64)
    own = np.minimum(stands_for, STEP_MS)
    back = np.zeros_like(own)
    back_state = np.zeros_like(states)
    cells = own.shape[1]
    longest = int(stands_for.max(initial=0))
    for later in range(1, min(-(-longest // STEP_MS), cells)):
        reach = np.clip(stands_for[:, later:] - later * STEP_MS, 0, STEP_MS)
        open_ms = STEP_MS - own[:, :-later]
        take = np.where(back[:, :-later] == 0, np.minimum(reach, open_ms), 0)
        back_state[:, :-later] = np.where(take > 0, states[:, later:], back_state[:, :-later])
        back[:, :-later] += take
    spent = np.zeros((*own.shape, STATES), dtype=np.int64)
    for state in Metered:
        spent[:, :, state] = np.where(states == state, own, 0) + np.where(back_state == state, back, 0)
    spent[:, :, Metered.UNKNOWN] += STEP_MS - own - back
    before = np.zeros((own.shape[0], cells + 1, STATES), dtype=np.int64)
    np.cumsum(spent, axis=1, out=before[:, 1:, :])
    start_ms = (int(block.marks[0]) - STEP_SECONDS) * 1000
    return Coverage(start_ms, stands_for, own, states, back, back_state, before)


def reaches_back(coverage: Coverage, at_ms: int) -> Flags:
    """Tell [G] whether a sample after ``at_ms`` (a mark) stands for time before it."""
    first = (at_ms - coverage.start_ms) // STEP_MS
    after = coverage.stands_for_ms[:, first : first + HOUR_MS // STEP_MS]
    return np.asarray((after > STEP_MS * np.arange(1, after.shape[1] + 1)).any(axis=1))


def _spent_until(coverage: Coverage, rows: Milliseconds, at_ms: Milliseconds) -> Milliseconds:
    """Give the time [P, 5] in each state from the start of the coverage to ``at_ms``."""
    cell, offset = np.divmod(at_ms - coverage.start_ms, STEP_MS)
    spent = coverage.before[rows, cell].copy()
    inner = np.flatnonzero(offset)
    if inner.size:
        row, cell, offset = rows[inner], cell[inner], offset[inner]
        own, back = coverage.own_ms[row, cell], coverage.back_ms[row, cell]
        unknown = STEP_MS - own - back
        spent[inner, Metered.UNKNOWN] += np.minimum(offset, unknown)
        np.add.at(spent, (inner, coverage.back_state[row, cell]), np.clip(offset - unknown, 0, back))
        np.add.at(spent, (inner, coverage.own_state[row, cell]), np.clip(offset - unknown - back, 0, own))
    return spent


@dataclass(frozen=True)
class Pieces:
    """Stretches of GPU time, each for one share; arrays [P].

    ``gpu`` row of the coverage, ``start_ms`` and ``end_ms`` epoch, within one hour. The share gets the part from
    ``low / parts`` to ``high / parts`` of the device (1 of 1: the whole; the second of three jobs: 1/3 to 2/3).
    """

    gpu: Milliseconds
    start_ms: Milliseconds
    end_ms: Milliseconds
    low: Milliseconds
    high: Milliseconds
    parts: Milliseconds


def measure(coverage: Coverage, pieces: Pieces) -> Milliseconds:
    """Give the time [P, 5] of each piece in each state.

    The parts of a device's time sum to that time exactly, wherever it is cut: each is the difference of rounded-down
    running totals, over time as over parts.
    """
    spent = _spent_until(coverage, pieces.gpu, pieces.end_ms) - _spent_until(coverage, pieces.gpu, pieces.start_ms)
    shared = np.flatnonzero(pieces.high - pieces.low != pieces.parts)
    if shared.size:
        low, high, parts = pieces.low[shared], pieces.high[shared], pieces.parts[shared]
        start, end = pieces.start_ms[shared] % HOUR_MS, pieces.start_ms[shared] % HOUR_MS
        end = end + pieces.end_ms[shared] - pieces.start_ms[shared]
        due = (end * high // parts - end * low // parts) - (start * high // parts - start * low // parts)
        running = np.cumsum(spent[shared], axis=1) * due[:, None] // np.maximum(end - start, 1)[:, None]
        spent[shared] = np.diff(running, axis=1, prepend=0)
    return spent
