"""What one sample says: busy, quiet, or nothing; and whether memory is held. Arrays over GPUs and marks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet.domain.idle_rule import AMD_GFX_PCT, DRAM_PCT, ENCODER_PCT, TENSOR_PCT, GpuFacts, IdleRule
from fleet.domain.power import resting_line_watts
from fleet.domain.samples import SampleBlock
from fleet.domain.signals import Signal

Flags = NDArray[np.bool_]
ACTIVITY = (Signal.SM_ACTIVE, Signal.GR_ENGINE, Signal.GPU_UTIL)  # in the order of trust
OTHER_LINES = {
    Signal.ENCODER: ENCODER_PCT,
    Signal.DECODER: ENCODER_PCT,
    Signal.TENSOR: TENSOR_PCT,
    Signal.DRAM: DRAM_PCT,
}


@dataclass(frozen=True)
class Reading:
    """Flags [G, N]. A sample with points is exactly one of busy, quiet, silent (it tells nothing)."""

    seen: Flags
    busy: Flags
    quiet: Flags
    silent: Flags
    memory_held: Flags  # memory known, and over the limit at its peak
    memory_unknown: Flags


def read_samples(block: SampleBlock, facts: GpuFacts, rule: IdleRule) -> Reading:
    """Read every sample of the block on its own. GPU_UTIL of a MIG slice is no measurement and is not looked at."""
    seen = block.points > 0
    busy = np.zeros(block.shape, dtype=np.bool_)
    active = np.zeros(block.shape, dtype=np.bool_)  # reports an activity signal
    amd = facts.is_amd[:, None]
    for signal in ACTIVITY:
        peak = block.peak.get(signal)
        if peak is None:
            continue
        if signal is Signal.GPU_UTIL:
            line = np.where(amd, AMD_GFX_PCT, rule.threshold_pct)
            peak = np.where(facts.is_mig[:, None], np.nan, peak)
        else:
            line = np.asarray(rule.threshold_pct)
        active |= ~np.isnan(peak)
        busy |= peak >= line
    for signal, limit in OTHER_LINES.items():
        peak = block.peak.get(signal)
        if peak is not None:
            busy |= peak >= limit
    busy |= amd & _draws_more(block, facts)
    busy &= seen
    quiet = seen & active & ~busy & (~amd | _rests(block, facts))
    memory = block.peak.get(Signal.MEMORY_MIB)
    if memory is None:
        held, unknown = np.zeros(block.shape, dtype=np.bool_), seen
    else:
        held, unknown = seen & (memory > facts.empty_limit_mib()[:, None]), seen & np.isnan(memory)
    return Reading(seen, busy, quiet, seen & ~busy & ~quiet, held, unknown)


def _rests(block: SampleBlock, facts: GpuFacts) -> Flags:
    """Tell where the power at its peak is near the baseline; where either is unknown, nothing is told."""
    power = block.peak.get(Signal.POWER_WATTS)
    if power is None:
        return np.zeros(block.shape, dtype=np.bool_)
    return np.asarray(power <= resting_line_watts(facts)[:, None])


def _draws_more(block: SampleBlock, facts: GpuFacts) -> Flags:
    """Tell where the power at its peak is above what a resting card draws."""
    power = block.peak.get(Signal.POWER_WATTS)
    if power is None:
        return np.zeros(block.shape, dtype=np.bool_)
    return np.asarray(power > resting_line_watts(facts)[:, None])
