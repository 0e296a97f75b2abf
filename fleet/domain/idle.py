"""The idle rule over arrays: every verdict of G GPUs at N marks, and the idle clock, in one pass without a loop.

The words are in docs/reference/verdicts.md; tests/unit/test_idle_oracle.py reads them slowly, one GPU at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet.domain.carry import DTYPE, Carry, beginning, midway
from fleet.domain.idle_rule import NEVER, GpuFacts, IdleRule, Numbers, facts_of
from fleet.domain.quiet import Flags, read_samples
from fleet.domain.running import Before, later, previous
from fleet.domain.samples import SampleBlock
from fleet.domain.states import Reason, State
from fleet.domain.windows import Window, look_back

__all__ = ["Carry", "GpuFacts", "IdleRule", "Track", "beginning", "columns_of", "facts_of", "follow", "midway"]

STATES = (State.UNKNOWN, State.WORKING, State.HELD, State.EMPTY)
REASONS = tuple(Reason)
LONG_GAP_SECONDS = 900
LONG_GAP_INTERVALS = 3
Codes = NDArray[np.int8]


@dataclass(frozen=True)
class Track:
    """What the rule says at each new mark; arrays [G, M] unless said otherwise.

    ``state`` and ``reason`` index STATES and REASONS. ``since`` (epoch seconds, NEVER if the clock does not run) and
    ``minutes`` (covered since then) are of the idle clock, whatever the state. ``is_open``: an idle finding is open.
    ``in_run``: idle, and no busy sample since. ``coverage_pct`` and ``window_seconds``: of the window judged by.
    """

    marks: NDArray[np.int64]
    state: Codes
    reason: Codes
    since: Numbers
    minutes: Numbers
    is_idle: Flags
    is_open: Flags
    in_run: Flags
    coverage_pct: Numbers
    window_seconds: NDArray[np.int64]
    carry: Carry  # at the last mark
    covered: Numbers  # running sum of covered minutes from the first new mark on


def _code(reason: Reason) -> int:
    return REASONS.index(reason)


def follow(block: SampleBlock, facts: GpuFacts, rule: IdleRule, carry: Carry | None = None) -> Track:
    """Fold the rule over the marks after ``carry`` (all of them without one).

    The block has to hold, before the first new mark, the marks of one window (``rule.reach_seconds``), as far as there
    are samples: what it lacks counts as missing. Raises ValueError when block and carry do not join.
    """
    first_new = 0
    if carry is None:
        carry = beginning(len(block.gpu_ids), int(block.marks[0]) - 300)
    else:
        first_new = int(np.searchsorted(block.marks, carry.mark, side="right"))
        joins = first_new < len(block.marks) and block.marks[first_new] == carry.mark + 300
        if not joins or len(carry.rows) != len(block.gpu_ids):
            raise ValueError("the block does not join the carry")
    return _Fold(block, facts, rule, carry, first_new).track()


class _Fold:
    """The steps of one fold; each attribute is an array over the new marks [G, M]."""

    def __init__(self, block: SampleBlock, facts: GpuFacts, rule: IdleRule, carry: Carry, first_new: int) -> None:
        new = slice(first_new, None)
        self.block, self.rule, self.old, self.first_new = block, rule, carry.rows, first_new
        self.is_amd = facts.is_amd[:, None]
        self.marks = block.marks[new]
        self.times = np.broadcast_to(self.marks.astype(np.float64), (len(block.gpu_ids), len(self.marks)))
        columns = columns_of(block, new)
        self.reading = read_samples(columns, facts, rule)
        self.minutes_here = np.where(self.reading.seen, columns.minutes, 0).astype(np.float64)
        self.find_seen(columns)
        self.find_starts(facts)
        self.find_events(columns)

    def newest(self, flags: Flags, name: str, values: Numbers | None = None) -> Numbers:
        """The newest mark (or value) where ``flags`` hold, going on from the carry's ``name``."""
        return later(np.where(flags, self.times if values is None else values, NEVER), self.old[name])

    def find_seen(self, columns: SampleBlock) -> None:
        """When each GPU was seen last, and the interval learned then."""
        seen = self.reading.seen
        self.seen_mark = self.newest(seen, "seen_mark")
        self.seen_at = self.newest(seen, "seen_at", columns.last_at)
        before = Before(seen)
        self.interval = before.latest(columns.interval.astype(np.float64), self.old["interval"])
        self.seen_mark_before = previous(self.seen_mark, self.old["seen_mark"])
        self.gap_seconds = np.where(seen, columns.first_at - previous(self.seen_at, self.old["seen_at"]), NEVER)

    def find_starts(self, facts: GpuFacts) -> None:
        """The start in force at each mark; where none is known, the end of the GPU's first sample."""
        known = facts.latest_start(self.marks)
        seen_first = np.where(self.reading.seen & (self.seen_mark_before == NEVER), self.times, NEVER)
        guessed = later(seen_first, np.where(np.isnan(facts.started_at), self.old["start"], NEVER))
        self.start = np.where(known > NEVER, known, guessed)
        self.restarts = self.start > previous(self.start, self.old["start"])

    def find_events(self, columns: SampleBlock) -> None:
        """The newest sample of each kind, holes between points, and the second of two busy samples in a row."""
        reading = self.reading
        self.busy_mark = self.newest(reading.busy, "busy_mark")
        self.quiet_mark = self.newest(reading.quiet, "quiet_mark")
        self.silent_mark = self.newest(reading.silent, "silent_mark")
        self.held_mark = self.newest(reading.memory_held, "held_mark")
        self.blind_mark = self.newest(reading.memory_unknown, "blind_mark")
        has_before = self.seen_mark_before > self.start
        after_start = reading.seen & (self.times > self.start)
        self.first_mark = self.newest(after_start & ~has_before, "first_mark")
        hole = has_before & (self.gap_seconds > np.maximum(300, 2 * self.interval + 60))
        self.hole_mark = self.newest(hole, "hole_mark", self.seen_mark_before)
        long = np.maximum(LONG_GAP_SECONDS, LONG_GAP_INTERVALS * self.interval)
        self.long_gap = has_before & (self.gap_seconds > long)
        busy_before = previous(self.busy_mark, self.old["busy_mark"])
        quiet_before = previous(self.quiet_mark, self.old["quiet_mark"])
        self.second_busy = reading.busy & (busy_before > quiet_before) & (busy_before > self.start)
        self.closed_mark = self.newest(self.second_busy, "closed_mark")

    def track(self) -> Track:
        """Judge every mark, then run the idle clock over the verdicts."""
        state, reason, coverage, window = self.judge()
        is_idle = state >= STATES.index(State.HELD)
        is_open = _switch(is_idle, self.second_busy | self.restarts, self.old["is_open"])
        in_run = _switch(is_idle, self.reading.busy | self.restarts, self.old["in_run"])
        self.gap_mark = self.newest(self.long_gap & ~previous(is_open, self.old["is_open"]), "gap_mark")
        since = np.maximum(np.maximum(self.busy_mark, self.first_mark), self.gap_mark)
        since = np.where(since > self.start, since, NEVER)
        covered = np.cumsum(self.minutes_here, axis=1)
        minutes = self.minutes_since(since, covered)
        carry = self.carry(since, minutes, is_open, in_run)
        return Track(
            marks=self.marks, state=state, reason=reason, since=since, minutes=minutes, is_idle=is_idle,
            is_open=is_open, in_run=in_run, coverage_pct=coverage, window_seconds=window, carry=carry, covered=covered,
        )  # fmt: skip

    def judge(self) -> tuple[Codes, Codes, Numbers, NDArray[np.int64]]:
        """State, reason, coverage and window length at each mark, in the order of the words."""
        main, short = self.look(self.rule.window_seconds), self.look(self.rule.empty_window_seconds)
        small_for = min(self.rule.window_seconds, self.rule.empty_window_seconds)
        full_memory = np.maximum(self.held_mark, self.blind_mark)
        memory_small = full_memory <= self.look(small_for).opens
        empty = self.is_quiet(short) & (full_memory <= short.opens)
        quiet = self.is_quiet(main)
        stale = self.times - self.seen_at > 2 * self.interval + 60
        newest_busy = self.busy_mark == self.seen_mark
        covered = ~main.is_thin & ~main.has_hole
        cases: list[tuple[Any, State, Any]] = [
            (empty, State.EMPTY, _code(Reason.QUIET_EMPTY)),
            (~main.is_seen, State.UNKNOWN, _code(Reason.NO_DATA)),
            (stale, State.UNKNOWN, _code(Reason.STALE)),
            (newest_busy & covered, State.WORKING, _code(Reason.BUSY)),
            (newest_busy, State.WORKING, _code(Reason.BUSY_NOW)),
            (main.is_thin, State.UNKNOWN, _code(Reason.LOW_COVERAGE)),
            (main.has_hole, State.UNKNOWN, _code(Reason.GAP_IN_WINDOW)),
            (main.is_busy, State.WORKING, _code(Reason.BUSY)),
            (main.is_silent & self.is_amd, State.UNKNOWN, _code(Reason.NO_BASELINE)),
            (main.is_silent, State.UNKNOWN, _code(Reason.NO_ACTIVITY_SIGNAL)),
            (~quiet, State.WORKING, _code(Reason.TOO_EARLY)),
            (memory_small, State.EMPTY, _code(Reason.QUIET_EMPTY)),
            (self.held_mark > main.opens, State.HELD, _code(Reason.QUIET_MEMORY_HELD)),
        ]
        whens = [when for when, _, _ in cases]
        state = np.select(whens, [STATES.index(then) for _, then, _ in cases], STATES.index(State.HELD))
        reason = np.select(whens, [why for _, _, why in cases], _code(Reason.QUIET_MEMORY_UNKNOWN))
        coverage = np.where(empty, short.coverage_pct, main.coverage_pct)
        window = np.where(empty, short.seconds, main.seconds).astype(np.int64)
        return state.astype(np.int8), reason.astype(np.int8), coverage, window

    def look(self, seconds: int) -> Window:
        """What the window of this length holds at each mark."""
        return look_back(self, seconds)

    def is_quiet(self, window: Window) -> Flags:
        """Idle by this window: seen, fresh, covered, no hole, nothing busy, nothing silent, and late enough."""
        fresh = self.times - self.seen_at <= 2 * self.interval + 60
        late = self.times >= self.start + max(self.rule.warm_up_seconds, window.seconds)
        clear = ~window.is_busy & ~window.is_silent & ~window.is_thin & ~window.has_hole
        return np.asarray(window.is_seen & fresh & clear & late & (self.start > NEVER))

    def minutes_since(self, since: Numbers, covered: Numbers) -> Numbers:
        """Covered minutes of the samples whose mark is later than ``since``."""
        here = since >= self.marks[0]
        column = (np.where(here, since - self.marks[0], 0) // 300).astype(np.int64)
        inside = covered - np.take_along_axis(covered, column, axis=1)
        return np.where(here, inside, np.where(since > NEVER, self.old["minutes"][:, None] + covered, 0.0))

    def carry(self, since: Numbers, minutes: Numbers, is_open: Flags, in_run: Flags) -> Carry:
        """Where this fold stands at its last mark."""
        rows = np.zeros(len(since), dtype=DTYPE)
        last: dict[str, Any] = {"since": since, "minutes": minutes, "is_open": is_open, "in_run": in_run}
        for name in DTYPE.names or ():
            rows[name] = (last[name] if name in last else getattr(self, name))[:, -1]
        return Carry(int(self.marks[-1]), rows)


def _switch(turns_on: Flags, turns_off: Flags, at_first: NDArray[np.bool_]) -> Flags:
    """A flag that events turn on and off. Together they come only at a first mark that is idle already: it is on."""
    order = np.arange(turns_on.shape[1])
    on = np.maximum.accumulate(np.where(turns_on, order, -1), axis=1)
    off = np.maximum.accumulate(np.where(turns_off, order, -1), axis=1)
    return np.where((on < 0) & (off < 0), at_first[:, None], on >= off)


def columns_of(block: SampleBlock, columns: slice) -> SampleBlock:
    """Give the block at some of its marks: views, no copies."""
    return SampleBlock(
        gpu_ids=block.gpu_ids,
        marks=block.marks[columns],
        points=block.points[:, columns],
        interval=block.interval[:, columns],
        first_at=block.first_at[:, columns],
        last_at=block.last_at[:, columns],
        minutes=block.minutes[:, columns],
        mean={signal: values[:, columns] for signal, values in block.mean.items()},
        peak={signal: values[:, columns] for signal, values in block.peak.items()},
    )
