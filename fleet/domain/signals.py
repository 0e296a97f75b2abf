"""The signals that a GPU may report, in the units we keep, with their plausible ranges.

Percent signals are 0 to 100 whatever the exporter's scale. A value outside its range is dropped and counted; a ratio up
to 1.5 is a known quirk of MIG slices and is clamped to 100. A missing signal is NaN in arrays and None in values, never
zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Signal(StrEnum):
    """A kept signal; the names carry the units."""

    GPU_UTIL = "gpu_util"  # percent of time with a kernel; never on MIG
    GR_ENGINE = "gr_engine"  # percent
    SM_ACTIVE = "sm_active"  # percent
    TENSOR = "tensor"  # percent
    DRAM = "dram"  # percent
    ENCODER = "encoder"  # percent
    DECODER = "decoder"  # percent
    MEMORY_MIB = "memory_mib"
    POWER_WATTS = "power_watts"
    TEMPERATURE_C = "temperature_c"


@dataclass(frozen=True)
class Range:
    """Accepted values; above ``clamp_above`` (when set) and up to ``high`` they are clamped to it."""

    low: float
    high: float
    clamp_above: float | None = None
    low_is_missing: bool = False  # a value of exactly ``low`` means "no reading"


PERCENT = Range(0, 100)
RATIO_PERCENT = Range(0, 150, clamp_above=100)  # of profiling ratios, after scaling to percent

RANGES: dict[Signal, Range] = {
    Signal.GPU_UTIL: PERCENT,
    Signal.GR_ENGINE: RATIO_PERCENT,
    Signal.SM_ACTIVE: RATIO_PERCENT,
    Signal.TENSOR: RATIO_PERCENT,
    Signal.DRAM: RATIO_PERCENT,
    Signal.ENCODER: PERCENT,
    Signal.DECODER: PERCENT,
    Signal.MEMORY_MIB: Range(0, 1_500_000),
    Signal.POWER_WATTS: Range(0, 2_000, low_is_missing=True),
    Signal.TEMPERATURE_C: Range(0, 130, low_is_missing=True),
}
"""What a board can do; docs/reference/signals.md says where each bound comes from."""
