"""Power baselines: what cards of a model draw while they do nothing, learned from their own samples.

Some cards report activity while idle (AMD's read 12 to 19 %), so for them a low activity proves nothing alone: power
has to be near the baseline too. A fixed wattage never stands in for it; without a baseline nothing is said.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fleet.domain.idle_rule import AMD_GFX_PCT, GpuFacts
from fleet.domain.samples import SampleBlock
from fleet.domain.signals import Signal

PERCENTILE = 5.0
LEAST_SAMPLES = 50
NEAR_SHARE = 0.10  # of the power limit: so far above the baseline a card still does nothing


def learn_baseline(block: SampleBlock, facts: GpuFacts) -> tuple[float, int] | None:
    """Give (watts, samples) of the GPUs of one model: low mean power where activity is low and memory empty.

    None while fewer than fifty such samples are there: a fleet that always works teaches nothing.
    """
    activity, memory = block.peak.get(Signal.GPU_UTIL), block.peak.get(Signal.MEMORY_MIB)
    power = block.mean.get(Signal.POWER_WATTS)
    if activity is None or memory is None or power is None:
        return None
    resting = (activity < AMD_GFX_PCT) & (memory <= facts.empty_limit_mib()[:, None]) & (power > 0)
    drawn = power[resting]
    if len(drawn) < LEAST_SAMPLES:
        return None
    return round(float(np.percentile(drawn, PERCENTILE)), 1), len(drawn)


def resting_line_watts(facts: GpuFacts) -> NDArray[np.float64]:
    """Give the power up to which each GPU rests [G]; NaN where baseline or limit is not known."""
    return np.asarray(facts.power_baseline_watts + NEAR_SHARE * facts.power_limit_watts)
