"""Random histories of a GPU for property tests, and the arrays that hold them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

from fleet.domain.idle import GpuFacts, IdleRule, facts_of
from fleet.domain.samples import SampleBlock, empty_block
from fleet.domain.signals import Signal
from tests.unit.idle_oracle import Device, Sample, Words

BASE = 1_748_908_800  # 2025-06-03T00:00:00Z, a mark
STEP = 300
INTERVALS = (10, 30, 300, 600, 1800)
QUIET = {
    "gpu_util": 4.5,
    "gr_engine": 0.0,
    "sm_active": 4.75,
    "encoder": 0.0,
    "tensor": 0.25,
    "dram": 0.5,
    "power_watts": 200.0,
}
BUSY = {
    "gpu_util": 5.0,
    "gr_engine": 97.0,
    "sm_active": 60.0,
    "encoder": 5.0,
    "tensor": 0.5,
    "dram": 1.0,
    "power_watts": 206.0,
}
MEMORY = {"small": 100.0, "held": 40_000.0, "unknown": None}


@st.composite
def devices(draw: st.DrawFn, length: int) -> Device:
    """A GPU with none, one or several starts, on the grid or off it."""
    starts = draw(st.lists(st.integers(-12, length * 5).map(lambda m: float(BASE + 60 * m)), max_size=3, unique=True))
    return Device(
        starts=tuple(sorted(starts)),
        is_mig=draw(st.booleans()) and draw(st.booleans()),
        is_amd=draw(st.integers(0, 4)) == 0,
        memory_total=draw(st.sampled_from([None, 8_000.0, 81_559.0])),
        resting_watts=draw(st.sampled_from([None, 205.0])),
    )


@st.composite
def histories(draw: st.DrawFn, length: int) -> list[Sample]:
    """Phases of work, quiet, silence and no data, scraped at one interval, with points lost here and there."""
    interval = draw(st.sampled_from(INTERVALS))
    offset = draw(st.integers(0, interval - 1))
    signals = draw(st.lists(st.sampled_from(sorted(QUIET)), min_size=1, max_size=4, unique=True))
    phases: list[tuple[str, str]] = []
    while len(phases) < length:
        kind = draw(st.sampled_from(["quiet", "quiet", "quiet", "busy", "none", "silent", "lossy"]))
        memory = draw(st.sampled_from(sorted(MEMORY)))
        phases += [(kind, memory)] * draw(st.sampled_from([1, 1, 2, 3, 6, 13, 20]))
    lost = draw(st.sets(st.integers(0, length * STEP // interval), max_size=8)) if interval >= 300 else set()
    samples: list[Sample] = []
    before: float | None = None
    for n in range(length):
        kind, memory = phases[n]
        points = [
            t
            for i in range(n * STEP // interval - 1, (n + 1) * STEP // interval + 1)
            if n * STEP < (t := i * interval + offset) <= (n + 1) * STEP and i >= 0 and i not in lost
        ]
        if kind == "none":
            points = []
        if kind == "lossy":
            points = points[: max(1, len(points) // 2)] if interval < 300 else points
        if not points:
            continue
        minutes = 0.0
        for point in points:
            minutes += 0 if before is None else min(interval, point - before) / 60
            before = point
        peaks = {} if kind == "silent" else {s: BUSY[s] if kind == "busy" else QUIET[s] for s in signals}
        used = MEMORY[memory]
        if used is not None:
            peaks["memory_mib"] = used
        mark = BASE + (n + 1) * STEP
        minutes = float(np.float32(minutes))
        samples.append(Sample(mark, len(points), interval, BASE + points[0], BASE + points[-1], minutes, peaks))
    return samples


@st.composite
def rules(draw: st.DrawFn) -> Words:
    """The default rule, mostly, and others within the bounds."""
    minutes = st.sampled_from([15, 30, 60, 60, 90])
    return Words(
        threshold=5.0,
        window=60 * draw(minutes),
        empty_window=60 * draw(minutes),
        coverage=draw(st.sampled_from([80.0, 80.0, 50.0, 100.0])),
        warm_up=60 * draw(st.sampled_from([0, 30, 30, 120])),
    )


def rule_of(words: Words) -> IdleRule:
    return IdleRule(words.threshold, words.window, words.empty_window, words.coverage, words.warm_up)


def block_of(histories: list[list[Sample]], length: int) -> SampleBlock:
    """The histories of several GPUs as one block."""
    marks = np.arange(1, length + 1, dtype=np.int64) * STEP + BASE
    block = empty_block(np.arange(len(histories), dtype=np.int64), marks)
    for g, samples in enumerate(histories):
        for sample in samples:
            n = (sample.mark - BASE) // STEP - 1
            block.points[g, n], block.interval[g, n] = sample.points, sample.interval
            block.first_at[g, n], block.last_at[g, n] = sample.first_at, sample.last_at
            block.minutes[g, n] = sample.minutes
            for name, peak in sample.peaks.items():
                block.peak[Signal(name)][g, n] = block.mean[Signal(name)][g, n] = peak
    return block


def gpu_facts(devices: list[Device]) -> GpuFacts:
    """The facts of several GPUs: starts before the first mark as the start, the others as later ones."""
    facts = facts_of(
        len(devices),
        started_at=[max((s for s in d.starts if s <= BASE), default=np.nan) for d in devices],
        is_mig=[d.is_mig for d in devices],
        is_amd=[d.is_amd for d in devices],
        memory_total_mib=[np.nan if d.memory_total is None else d.memory_total for d in devices],
        power_limit_watts=750.0,
        power_baseline_watts=[np.nan if d.resting_watts is None else d.resting_watts - 75.0 for d in devices],
    )
    later = [(row, start) for row, d in enumerate(devices) for start in d.starts if start > BASE]
    return replace(
        facts,
        later_rows=np.array([row for row, _ in later], dtype=np.int64),
        later_starts=np.array([start for _, start in later], dtype=np.float64),
    )
