"""What some GPUs did over a chosen span, thinned so that a screen can show it; a gap stays a gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from common.periods import Period
from fleet.domain.quiet import ACTIVITY
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.signals import Signal
from fleet.queries.samples import Peaks, load_peaks

MOST_POINTS = 600
SEEN_SHARE = 0.5  # of a point's samples; with fewer of them it is a gap


@dataclass(frozen=True)
class TracedGpu:
    """A device to look at. ``spans``: (start, end) in epoch seconds in which alone it counts; None: always."""

    id: int
    index: int | None
    name: str
    mig_instance: str
    spans: Sequence[tuple[float, float]] | None = None


@dataclass(frozen=True)
class Traced:
    """``peaks``: the highest percent of activity at each point, None where nothing was seen."""

    gpu: TracedGpu
    signal: Signal | None
    peaks: list[float | None]
    highest: float | None


@dataclass(frozen=True)
class Trace:
    """Points end at ``marks`` (epoch seconds, ``step`` apart) and stand for the time before."""

    marks: list[int]
    step: int
    gpus: list[Traced]


def trace(gpus: Sequence[TracedGpu], period: Period) -> Trace:
    """Read the samples of ``gpus`` in ``period`` and thin them to at most 600 points."""
    block = load_peaks([gpu.id for gpu in gpus], period.start, period.end, ACTIVITY)
    thin = max(1, -(-len(block.marks) // MOST_POINTS))
    marks = _ends(block.marks, thin)
    traced = []
    for row, gpu in enumerate(gpus):
        signal = _signal(block, row, gpu)
        values = block.of[signal][row].copy() if signal else np.full(len(block.marks), np.nan, dtype=np.float32)
        if gpu.spans is not None:
            inside = np.zeros(len(block.marks), dtype=np.bool_)
            for start, end in gpu.spans:
                inside |= (block.marks > start) & (block.marks <= end + STEP_SECONDS)
            values[~inside] = np.nan
        spread = _spread(values, block.minutes[row])
        peaks = _thinned(spread, thin)
        known = [one for one in peaks if one is not None]
        traced.append(Traced(gpu, signal, peaks, max(known) if known else None))
    return Trace(marks, thin * STEP_SECONDS, traced)


def _ends(marks: NDArray[np.int64], thin: int) -> list[int]:
    """The last mark of each point; the newest point is whole, the oldest may be short."""
    ends: list[int] = marks[::-1][::thin][::-1].tolist()
    return ends


def _signal(block: Peaks, row: int, gpu: TracedGpu) -> Signal | None:
    """The most trusted signal of activity that the GPU reports; utilisation of a MIG slice is no measurement."""
    for signal in ACTIVITY:
        if signal is Signal.GPU_UTIL and gpu.mig_instance:
            continue
        if not np.isnan(block.of[signal][row]).all():
            return signal
    return None


def _spread(values: NDArray[np.float32], minutes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Put each value at all the marks it stands for: a point of a slow scrape covers the samples before it."""
    shown = values.copy()
    known = np.flatnonzero(~np.isnan(values))
    counts = np.maximum(1, np.rint(minutes[known] * 60 / STEP_SECONDS)).astype(np.int64)
    for column, count in zip(known[counts > 1].tolist(), counts[counts > 1].tolist(), strict=True):
        first = max(0, column + 1 - count)
        part = shown[first:column]
        part[np.isnan(part)] = values[column]
    return shown


def _thinned(values: NDArray[np.float32], thin: int) -> list[float | None]:
    """The highest value of each point, None where fewer than half of its samples were seen."""
    missing = -len(values) % thin
    padded = np.concatenate([np.full(missing, np.nan, dtype=np.float32), values]).reshape(-1, thin)
    seen = (~np.isnan(padded)).sum(axis=1)
    sizes = np.full(len(padded), thin)
    if len(sizes):
        sizes[0] -= missing
    highest = np.max(np.where(np.isnan(padded), -np.inf, padded), axis=1)
    return [
        round(float(value), 2) if count and count >= SEEN_SHARE * size else None
        for value, count, size in zip(highest.tolist(), seen.tolist(), sizes.tolist(), strict=True)
    ]
