"""Folding the idle rule over stored samples: where a fold stands at a mark, found by going back as far as it takes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet.domain.carry import DTYPE, Carry, beginning, midway
from fleet.domain.idle import Track, columns_of, follow
from fleet.domain.idle_rule import NEVER, GpuFacts, IdleRule
from fleet.domain.samples import STEP_SECONDS, SampleBlock
from fleet.queries.fleet_at import FleetAt, moment
from fleet.queries.samples import load_block

FIRST_SPAN_SECONDS = 3 * 3600  # beyond the rule's reach
LONGEST_PIECE_SECONDS = 86_400
LONGEST_SPAN_SECONDS = 120 * 86_400
GROWTH = 4
SAMPLES_AT_ONCE = 500_000  # some 50 MB of arrays
SETTLED_FIELDS = ("since", "minutes", "is_open", "in_run")

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Piece:
    """A fold of some GPUs (row numbers) over the marks of ``track``, from ``before``.

    ``block`` also holds the rule's reach before those marks.
    """

    rows: Rows
    block: SampleBlock
    facts: GpuFacts
    before: Carry
    track: Track


def batches(rows: Rows, marks: int) -> Iterator[Rows]:
    """Cut ``rows`` so that a block of so many marks stays within memory."""
    size = max(1, SAMPLES_AT_ONCE // max(marks, 1))
    for first in range(0, len(rows), size):
        yield rows[first : first + size]


def fold(
    fleet: FleetAt,
    start: tuple[Rows, Carry],
    rule: IdleRule,
    until: int,
    *,
    stop: int | None = None,
    is_current: Callable[[Rows, SampleBlock], NDArray[np.bool_]] | None = None,
) -> Iterator[Piece]:
    """Fold on from a carry of some rows to the mark ``until``, in pieces that fit memory; one ends at ``stop``.

    ``is_current`` is shown the first block of each batch and tells which of its GPUs may be folded; others are left.
    """
    rows, carry = start
    reach = rule.reach_seconds
    step = max(STEP_SECONDS, min(until - carry.mark, LONGEST_PIECE_SECONDS))
    for places in batches(np.arange(len(rows)), (reach + step) // STEP_SECONDS):
        some, part, at = rows[places], carry.select(places), carry.mark
        while at < until and len(some):
            to = min(at + step, until)
            block = load_block(fleet.ids(some), moment(at - reach), moment(to))
            if is_current is not None and at == carry.mark:
                kept = is_current(some, block)
                if not kept.all():
                    some, part, block = some[kept], part.select(kept), select_rows(block, kept)
                    if not len(some):
                        break
            facts = fleet.facts(some, at)
            ends = [stop, to] if stop is not None and at < stop < to else [to]
            for end in ends:
                view = block if end == to else cut_columns(block, end)
                track = follow(view, facts, rule, part)
                yield Piece(some, view, facts, part, track)
                part = track.carry
            at = to


def cut_columns(block: SampleBlock, end: int) -> SampleBlock:
    """The block up to the mark ``end``: views, no copies."""
    return columns_of(block, slice(0, int(np.searchsorted(block.marks, end, side="right"))))


def select_rows(block: SampleBlock, rows: NDArray[Any]) -> SampleBlock:
    """The block of some of its GPUs."""
    return SampleBlock(
        block.gpu_ids[rows],
        block.marks,
        block.points[rows],
        block.interval[rows],
        block.first_at[rows],
        block.last_at[rows],
        block.minutes[rows],
        {signal: values[rows] for signal, values in block.mean.items()},
        {signal: values[rows] for signal, values in block.peak.items()},
    )


def settle(fleet: FleetAt, rows: Rows, rule: IdleRule, mark: int) -> Carry:
    """Where the fold of each GPU stands at ``mark``, from samples alone.

    Goes back in growing spans, each time only with the GPUs of which it still matters what came before: two folds are
    made, one supposing an open finding before the span and one supposing none, until both say the same.
    """
    found = np.zeros(len(rows), dtype=DTYPE)
    pending = np.arange(len(rows))
    span = rule.reach_seconds + FIRST_SPAN_SECONDS
    while len(pending):
        is_last = span >= LONGEST_SPAN_SECONDS
        left: list[NDArray[Any]] = []
        for places in batches(pending, span // STEP_SECONDS):
            ends, done = _look_from(fleet, rows[places], rule, (mark - span, mark), is_last=is_last)
            found[places[done]] = ends[done]
            left.append(places[~done])
        pending = np.concatenate(left)
        span = min(span * GROWTH, LONGEST_SPAN_SECONDS)
    return Carry(mark, found)


def _look_from(
    fleet: FleetAt, rows: Rows, rule: IdleRule, span: tuple[int, int], *, is_last: bool
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Fold over the span under both suppositions; the ends, and whether the past can't change them.

    In the last span a GPU's life is taken to begin with its first sample there: older ones are kept no more.
    """
    begin, mark = span
    block = load_block(fleet.ids(rows), moment(begin), moment(mark))
    facts = fleet.facts(rows, begin)
    first_marks = fleet.first_marks(rows)
    is_new = (first_marks > begin) | is_last  # its whole life lies in the span
    known = facts.latest_start(np.array([begin], dtype=np.int64))[:, 0]
    starts = np.where(known > NEVER, known, first_marks.astype(np.float64))
    whole = beginning(len(rows), begin).rows
    ends = []
    for is_open in (False, True):
        carry = Carry(begin, np.where(is_new, whole, midway(starts, begin, is_open=is_open).rows))
        ends.append(follow(block, facts, rule, carry).carry.rows)
    closed, opened = ends
    same = np.all([closed[name] == opened[name] for name in SETTLED_FIELDS], axis=0)
    same &= (closed["since"] > begin) | (closed["start"] > begin)
    return closed, same | is_new


def covered_minutes(fleet: FleetAt, since: Sequence[tuple[int, float]], until: int) -> list[float]:
    """The covered minutes of each (GPU row, since) up to ``until``."""
    result = [0.0] * len(since)
    order = sorted(range(len(since)), key=lambda i: since[i][1])
    place = 0
    while place < len(order):
        begin = int(since[order[place]][1])
        size = max(1, SAMPLES_AT_ONCE // max((until - begin) // STEP_SECONDS, 1))
        some = order[place : place + size]
        block = load_block([fleet.gpus[since[i][0]].id for i in some], moment(begin), moment(until))
        for row, i in enumerate(some):
            later = block.marks > since[i][1]
            result[i] = float(block.minutes[row, later].sum(dtype=np.float64)) if later.any() else 0.0
        place += size
    return result
