"""The activity of a sample: SM_ACTIVE, else GR_ENGINE, else GPU_UTIL (on a MIG slice never GPU_UTIL), in percent.

A profiling signal that is exactly 0 throughout a sample in which a plainer one shows work proves nothing (counters that
another profiler holds read 0 at full load): it is passed over in that sample.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fleet.domain.samples import SampleBlock
from fleet.domain.signals import Signal

WORK_PCT = 5.0  # from here on a plainer signal speaks against a profiling one that reads 0


def activity_pct(block: SampleBlock, is_mig: NDArray[np.bool_], *, peaks: bool = False) -> NDArray[np.float64]:
    """Give the 5-minute mean (or the peak) of the activity shown [G, N]; NaN where nothing tells it."""
    table = block.peak if peaks else block.mean
    shown = np.full(block.shape, np.nan)
    highest = np.zeros(block.shape)
    for signal in (Signal.GPU_UTIL, Signal.GR_ENGINE, Signal.SM_ACTIVE):
        if signal not in table:
            continue
        values, peak = table[signal].astype(np.float64), np.nan_to_num(block.peak[signal].astype(np.float64))
        if signal is Signal.GPU_UTIL:
            values, peak = np.where(is_mig[:, None], np.nan, values), np.where(is_mig[:, None], 0, peak)
        proves_nothing = np.isnan(values) | ((peak == 0) & (highest >= WORK_PCT))
        shown = np.where(proves_nothing, shown, values)
        highest = np.maximum(highest, peak)
    return shown
