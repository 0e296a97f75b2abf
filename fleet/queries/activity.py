"""What the GPUs of one instance did lately, sample by sample: for the picture of its record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from common.periods import floor_mark
from fleet.domain.idle_rule import NEVER, IdleRule, facts_of
from fleet.domain.next_steps import LastMarks
from fleet.domain.quiet import ACTIVITY, Reading, read_samples
from fleet.domain.samples import STEP_SECONDS, SampleBlock
from fleet.domain.signals import Signal
from fleet.queries.power import NEEDS_BASELINE, baselines_of
from fleet.queries.record import GpuNow
from fleet.queries.samples import load_block

SHOWN = timedelta(hours=24)
LONGEST = timedelta(hours=50)  # 600 samples: more can't be told apart on a screen


@dataclass(frozen=True)
class GpuActivity:
    """``peaks`` percent of activity at each mark, None where nothing was seen; ``signal``: which one, None without any.

    ``highest``: over the rule's window.
    """

    gpu: GpuNow
    signal: Signal | None
    peaks: list[float | None]
    highest: float | None
    last: LastMarks


@dataclass(frozen=True)
class Activity:
    """Samples end at ``marks`` (epoch seconds, 300 apart) and stand for the five minutes before."""

    marks: list[int]
    window_start: int
    gpus: list[GpuActivity]


def activity_of(gpus: Sequence[GpuNow], rule: IdleRule, started: datetime | None, at: datetime) -> Activity:
    """Read a day up to ``at``, more when the rule looks back further; ``started``: of the instance."""
    until = floor_mark(at)
    reach = timedelta(seconds=rule.reach_seconds)
    span = min(max(SHOWN, reach + reach / 4), LONGEST)
    block = load_block([gpu.id for gpu in gpus], until - span, until)
    facts = facts_of(
        len(gpus),
        is_mig=[bool(gpu.mig_instance) for gpu in gpus],
        is_amd=[gpu.vendor == NEEDS_BASELINE for gpu in gpus],
        memory_total_mib=[gpu.memory_total_mib or np.nan for gpu in gpus],
        power_limit_watts=[gpu.power_limit_watts or np.nan for gpu in gpus],
        power_baseline_watts=baselines_of(((gpu.vendor, gpu.model) for gpu in gpus), at),
    )
    reading = read_samples(block, facts, rule)
    window_start = int(until.timestamp()) - rule.window_seconds
    in_window = block.marks > window_start
    shown = []
    for row, gpu in enumerate(gpus):
        signal = _signal(block, row, gpu)
        values = block.peak[signal][row] if signal else np.full(len(block.marks), np.nan, dtype=np.float32)
        seen = values[in_window & ~np.isnan(values)]
        begun = max(gpu.first_seen_at, started) if started else gpu.first_seen_at
        last = _last_marks(block.marks, reading, row, begun.timestamp())
        shown.append(
            GpuActivity(gpu, signal, _spread(block, row, values), float(seen.max()) if len(seen) else None, last)
        )
    return Activity(block.marks.tolist(), window_start, shown)


def _signal(block: SampleBlock, row: int, gpu: GpuNow) -> Signal | None:
    """The most trusted signal of activity that the GPU reports; utilisation of a MIG slice is no measurement."""
    for signal in ACTIVITY:
        if signal is Signal.GPU_UTIL and gpu.mig_instance:
            continue
        if signal in block.peak and not np.isnan(block.peak[signal][row]).all():
            return signal
    return None


def _spread(block: SampleBlock, row: int, values: NDArray[np.float32]) -> list[float | None]:
    """Put each value at all the marks it stands for: a point of a slow scrape covers the samples before it."""
    shown: list[float | None] = [None] * len(block.marks)
    for column in np.flatnonzero(~np.isnan(values)).tolist():
        first = max(0, column + 1 - max(1, round(float(block.minutes[row, column]) * 60 / STEP_SECONDS)))
        for place in range(first, column + 1):
            if place == column or shown[place] is None:
                shown[place] = round(float(values[column]), 2)
    return shown


def _last_marks(marks: NDArray[np.int64], reading: Reading, row: int, start: float) -> LastMarks:
    def newest(flags: NDArray[np.bool_]) -> float:
        columns = np.flatnonzero(flags[row])
        return float(marks[columns[-1]]) if len(columns) else NEVER

    return LastMarks(
        start=start,
        seen=newest(reading.seen),
        busy=newest(reading.busy),
        silent=newest(reading.silent),
        held=newest(reading.memory_held),
        blind=newest(reading.memory_unknown),
    )
