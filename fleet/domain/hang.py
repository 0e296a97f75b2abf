"""Suspected hang: GPU_UTIL at its top while nothing is computed, no memory moves and little power flows, flatly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet.domain.idle_rule import DRAM_PCT, TENSOR_PCT, GpuFacts, IdleRule
from fleet.domain.quiet import Flags, read_samples
from fleet.domain.samples import SampleBlock
from fleet.domain.signals import Signal

UTIL_PCT = 95.0
POWER_SHARE = 0.35
FLAT_SHARE = 0.05  # of the power limit, between the lowest mean and the highest peak
HANG_MINUTES = 30.0
COVERED_SHARE = 0.8  # of the newest 30 minutes


@dataclass(frozen=True)
class Hang:
    """Arrays [G].

    ``since``: end of the last sample before the spinning began (epoch seconds), NaN where it may lie before the block;
    ``worked``: real work was seen before it, in the block. ``is_spinning`` tells of the newest sample.
    """

    is_spinning: NDArray[np.bool_]
    is_hung: NDArray[np.bool_]  # spinning for 30 covered minutes, flat, and worked before
    since: NDArray[np.float64]
    minutes: NDArray[np.float64]
    power_watts: NDArray[np.float64]  # highest while spinning
    worked: NDArray[np.bool_]


def spins(block: SampleBlock, facts: GpuFacts) -> Flags:
    """Which samples [G, N] show GPU_UTIL at its top without work; power and limit must be known, memory not empty."""

    def peak(signal: Signal) -> Any:
        return block.peak.get(signal, np.full(block.shape, np.nan, dtype=np.float32))

    def quiet_or_absent(signal: Signal, line: float) -> Any:
        return np.isnan(peak(signal)) | (peak(signal) < line)

    util = block.mean.get(Signal.GPU_UTIL, np.full(block.shape, np.nan, dtype=np.float32))
    empty = peak(Signal.MEMORY_MIB) <= facts.empty_limit_mib()[:, None]
    low_power = peak(Signal.POWER_WATTS) <= facts.power_limit_watts[:, None] * POWER_SHARE
    idle_pipes = quiet_or_absent(Signal.TENSOR, TENSOR_PCT) & quiet_or_absent(Signal.DRAM, DRAM_PCT)
    is_top = (block.points > 0) & (util >= UTIL_PCT) & ~facts.is_mig[:, None]
    return np.asarray(is_top & ~empty & low_power & idle_pipes)


def find_hangs(block: SampleBlock, facts: GpuFacts, rule: IdleRule, began: NDArray[np.float64]) -> Hang:
    """Look back from the block's last mark; ``began`` [G]: start of the job, else of the GPU's run (epoch seconds).

    Missing samples neither prove nor end a hang; too many of them in the newest 30 minutes hide one.
    """
    spinning = spins(block, facts)
    seen = (block.points > 0) & (block.marks > began[:, None])
    other = seen & ~spinning
    busy = read_samples(block, facts, rule).busy & other
    last_other = np.where(other, block.marks, -np.inf).max(axis=1, initial=-np.inf)
    known_from = np.where(last_other > -np.inf, last_other, np.where(began >= block.marks[0] - 300, began, np.nan))
    run = seen & spinning & (block.marks > np.where(last_other > -np.inf, last_other, began)[:, None])
    minutes = np.where(run, block.minutes, 0).sum(axis=1, dtype=np.float64)
    power = block.peak.get(Signal.POWER_WATTS, np.full(block.shape, np.nan, dtype=np.float32))
    lowest = block.mean.get(Signal.POWER_WATTS, power)
    highest = np.where(run, power, -np.inf).max(axis=1, initial=-np.inf)
    spread = highest - np.where(run, lowest, np.inf).min(axis=1, initial=np.inf)
    worked = np.asarray(busy.any(axis=1))
    newest = np.where(seen, np.arange(len(block.marks)), -1).max(axis=1, initial=-1)
    rows = np.arange(len(block.gpu_ids))
    is_spinning = (newest >= 0) & run[rows, np.maximum(newest, 0)]
    interval = block.interval[rows, np.maximum(newest, 0)]
    fresh = block.marks[-1] - block.last_at[rows, np.maximum(newest, 0)] <= 2 * interval + 60
    long_enough = (minutes >= HANG_MINUTES) & _is_covered(block, run)
    flat = spread <= facts.power_limit_watts * FLAT_SHARE
    return Hang(
        is_spinning=is_spinning,
        is_hung=is_spinning & fresh & long_enough & flat & worked,
        since=known_from,
        minutes=minutes,
        power_watts=np.where(highest > -np.inf, highest, np.nan),
        worked=worked,
    )


def _is_covered(block: SampleBlock, run: Flags) -> NDArray[np.bool_]:
    """Whether the last 30 minutes of the run are covered, without two points too far apart."""
    recent = run & (block.marks > block.marks[-1] - HANG_MINUTES * 60)
    covered = np.where(recent, block.minutes, 0).sum(axis=1, dtype=np.float64) >= HANG_MINUTES * COVERED_SHARE
    ends = np.where(recent, block.last_at, -np.inf)
    before = np.concatenate([np.full((len(run), 1), -np.inf), np.maximum.accumulate(ends, axis=1)[:, :-1]], axis=1)
    gap = np.where(recent & (before > -np.inf), block.first_at - before, 0)
    return np.asarray(covered & ~(gap > np.maximum(300, 2 * block.interval + 60)).any(axis=1))
