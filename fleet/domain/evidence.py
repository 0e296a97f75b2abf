"""What a verdict was made from: peak, mean, points, memory and confidence over its window, at the last mark."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet.domain.hang import spins
from fleet.domain.idle import STATES, Track
from fleet.domain.idle_rule import DRAM_PCT, TENSOR_PCT, GpuFacts, IdleRule, Numbers
from fleet.domain.quiet import ACTIVITY, read_samples
from fleet.domain.samples import STEP_SECONDS, SampleBlock
from fleet.domain.signals import Signal
from fleet.domain.states import State

LOW_POWER_SHARE = 0.35  # of the board's limit; above it work is sure
PROFILING = (Signal.SM_ACTIVE, Signal.GR_ENGINE, Signal.TENSOR, Signal.DRAM)
MEMORY_WORDS = ("unknown", "empty", "held")
CONFIDENCES = ("low", "medium", "high")


@dataclass(frozen=True)
class Evidence:
    """Arrays [G]. Percents are NaN where nothing was seen; ``signal`` indexes ACTIVITY, -1 for none."""

    peak_pct: Numbers
    mean_pct: Numbers
    signal: NDArray[np.int8]
    points: NDArray[np.int64]
    memory: NDArray[np.int8]  # index into MEMORY_WORDS
    confidence: NDArray[np.int8]  # index into CONFIDENCES; of an unknown verdict it means nothing
    spinning: NDArray[np.bool_]  # the newest sample shows the top of GPU_UTIL without work (`hang`)


def gather(block: SampleBlock, facts: GpuFacts, rule: IdleRule, track: Track) -> Evidence:
    """Look over the window of each GPU's last verdict; the block has to hold that window.

    Means are weighted by the minutes that a sample stands for (by points where none stands for any).
    """
    until = int(np.searchsorted(block.marks, track.marks[-1], side="right"))
    first = max(0, until - rule.reach_seconds // STEP_SECONDS)
    columns = slice(first, until)
    opens = np.maximum(track.marks[-1] - track.window_seconds[:, -1], track.carry.rows["start"])
    inside = (block.marks[columns] > opens[:, None]) & (block.points[:, columns] > 0)
    reading = read_samples(block, facts, rule)
    held = (reading.memory_held[:, columns] & inside).any(axis=1)
    blind = (reading.memory_unknown[:, columns] & inside).any(axis=1) | ~inside.any(axis=1)
    peak, mean, signal = shown_activity(block, facts, columns, inside)
    return Evidence(
        peak_pct=peak,
        mean_pct=mean,
        signal=signal,
        points=np.where(inside, block.points[:, columns], 0).sum(axis=1),
        memory=np.where(held, 2, np.where(blind, 0, 1)).astype(np.int8),
        confidence=_confidence(_Look(block, facts, columns, inside), rule, track),
        spinning=_newest(spins(block, facts)[:, columns], inside),
    )


def _newest(flags: NDArray[np.bool_], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """The flag of the newest sample inside [G]."""
    newest = np.where(inside, np.arange(inside.shape[1]), -1).max(axis=1, initial=-1)
    return np.asarray((newest >= 0) & flags[np.arange(len(flags)), np.maximum(newest, 0)])


def shown_activity(
    block: SampleBlock, facts: GpuFacts, columns: slice, inside: NDArray[np.bool_]
) -> tuple[Numbers, Numbers, NDArray[np.int8]]:
    """Peak, mean and signal [G] of the activity shown, over the samples ``inside`` [G, columns].

    The first of ACTIVITY that is there; one that is 0 throughout while a later one is not proves nothing: passed over.
    """
    count = len(block.gpu_ids)
    peak, mean = np.full(count, np.nan), np.full(count, np.nan)
    signal = np.full(count, -1, dtype=np.int8)
    minutes = np.where(inside, block.minutes[:, columns], 0).astype(np.float64)
    points = np.where(inside, block.points[:, columns], 0).astype(np.float64)
    for index in reversed(range(len(ACTIVITY))):
        name = ACTIVITY[index]
        if name not in block.peak:
            continue
        there = inside & ~np.isnan(block.peak[name][:, columns])
        if name is Signal.GPU_UTIL:
            there &= ~facts.is_mig[:, None]
        highest = np.where(there, block.peak[name][:, columns], -np.inf).max(axis=1, initial=-np.inf)
        take = (highest > -np.inf) & ~((highest == 0) & (peak > 0))
        weights = np.where(there, minutes, 0)
        weights = np.where(weights.sum(axis=1, keepdims=True) > 0, weights, np.where(there, points, 0))
        total = weights.sum(axis=1)
        means = np.where(there, block.mean[name][:, columns], 0).astype(np.float64)
        average = (means * weights).sum(axis=1) / np.where(total > 0, total, 1)
        peak, mean = np.where(take, highest, peak), np.where(take, average, mean)
        signal = np.where(take, index, signal).astype(np.int8)
    return peak, mean, signal


@dataclass(frozen=True)
class _Look:
    """The samples that a verdict looked at."""

    block: SampleBlock
    facts: GpuFacts
    columns: slice
    inside: NDArray[np.bool_]

    def highest(self, signal: Signal) -> Numbers:
        """The highest peak of a signal [G]; NaN without one."""
        values = self.block.peak.get(signal)
        if values is None:
            return np.full(len(self.inside), np.nan)
        here = values[:, self.columns]
        found = np.where(self.inside & ~np.isnan(here), here, -np.inf).max(axis=1, initial=-np.inf)
        return np.where(found > -np.inf, found, np.nan).astype(np.float64)


def _confidence(look: _Look, rule: IdleRule, track: Track) -> NDArray[np.int8]:
    """How many of GPU_UTIL, profiling and power say what the verdict says: three is high, two medium, else low."""
    is_working = track.state[:, -1] == STATES.index(State.WORKING)

    def agrees(value: Numbers, line: Any) -> NDArray[np.bool_]:
        return np.asarray(np.where(is_working, value >= line, value < line) & ~np.isnan(value), dtype=np.bool_)

    util = agrees(np.where(look.facts.is_mig, np.nan, look.highest(Signal.GPU_UTIL)), rule.threshold_pct)
    lines = {Signal.TENSOR: TENSOR_PCT, Signal.DRAM: DRAM_PCT}
    each = [agrees(look.highest(signal), lines.get(signal, rule.threshold_pct)) for signal in PROFILING]
    limit = look.facts.power_limit_watts
    power = agrees(look.highest(Signal.POWER_WATTS), limit * LOW_POWER_SHARE) & ~np.isnan(limit)
    votes = util.astype(np.int64) + np.any(each, axis=0).astype(np.int64) + power
    return np.asarray(np.clip(votes - 1, 0, 2), dtype=np.int8)
