"""Low utilisation: what a job, or an instance without jobs, made of its GPUs over seven days. Advice, never an act."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet.domain.activity import activity_pct
from fleet.domain.quiet import Flags
from fleet.domain.samples import SampleBlock
from fleet.domain.signals import Signal

DAYS = 7
MEAN_PCT = 25.0
PEAK_95_PCT = 50.0
MEMORY_SHARE = 0.80
GPU_HOURS = 24.0
JOB_MINUTES = 30.0


@dataclass(frozen=True)
class Use:
    """Of one job or instance: covered GPU-hours; duration-weighted mean and 95th percentile of the 5-minute means.

    ``memory_share``: the highest; None when no GPU says.
    """

    gpu_hours: float
    mean_pct: float
    p95_pct: float
    memory_share: float | None
    peak_pct: float

    @property
    def is_low(self) -> bool:
        """Whether this is worth a word. Unknown memory does not speak against it."""
        small_memory = self.memory_share is None or self.memory_share < MEMORY_SHARE
        enough = self.gpu_hours >= GPU_HOURS
        return enough and self.mean_pct < MEAN_PCT and self.p95_pct < PEAK_95_PCT and small_memory


def measure(
    block: SampleBlock, is_mig: NDArray[np.bool_], memory_total_mib: NDArray[np.float64], inside: Flags
) -> Use | None:
    """Weigh the samples ``inside`` [G, N] of one job or instance; None when none of them tells activity."""
    activity = activity_pct(block, is_mig)
    there = inside & (block.points > 0) & ~np.isnan(activity)
    weights = np.where(there, block.minutes, 0).astype(np.float64)
    total = weights.sum()
    if total <= 0:
        return None
    values, weight = activity[there], weights[there]
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    p95 = values[order][min(int(np.searchsorted(reached, 0.95 * total)), len(order) - 1)]
    memory = block.peak.get(Signal.MEMORY_MIB, np.full(block.shape, np.nan))
    shares = np.where(there, memory / memory_total_mib[:, None], np.nan)
    known = shares[~np.isnan(shares)]
    return Use(
        gpu_hours=float(total / 60),
        mean_pct=float((values * weight).sum() / total),
        p95_pct=float(p95),
        memory_share=float(known.max()) if len(known) else None,
        peak_pct=float(activity_pct(block, is_mig, peaks=True)[there].max()),
    )
