"""Which raw values are measurements: sentinels, garbage and NaN are dropped and counted, never averaged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet.domain.signals import RANGES, Signal

SENTINEL = float(2**31 - 16)
"""int32 blank; the int64 and fp64 blanks are greater. Compared with >=, for as floats they are not exact."""

Float64 = NDArray[np.float64]
KINDS = ("sentinel", "out_of_range", "nan", "clamped")


@dataclass(frozen=True)
class Filtered:
    """Values in the signal's unit with NaN for what was dropped, and how many of each kind there were."""

    values: Float64
    counts: dict[str, int]


def limits(signal: Signal, scale: float) -> tuple[float, float]:
    """Give (low, high) in raw units: a value below low or above high needs a look at the raw points.

    Where the low end means "no reading" the limit is open: a raw value must be above it.
    """
    span = RANGES[signal]
    high = span.high if span.clamp_above is None else span.clamp_above
    return span.low / scale, high / scale


def keep_plausible(raw: Float64, signal: Signal, scale: float) -> Filtered:
    """Scale raw values and drop what can't be: the filter works on each raw point, never on an average."""
    span = RANGES[signal]
    values = raw * scale
    nan = np.isnan(raw)
    sentinel = ~nan & (raw >= SENTINEL)
    if signal is Signal.MEMORY_MIB and scale < 1:  # bytes may be greater than the int32 blank
        sentinel = ~nan & ((raw >= 2.0**47) | (raw == SENTINEL) | ((raw > SENTINEL) & (raw < SENTINEL + 4)))
    low = (values <= span.low) if span.low_is_missing else (values < span.low)
    missing_reading = (values == span.low) if span.low_is_missing else np.zeros(len(raw), dtype=bool)
    outside = ~nan & ~sentinel & (low | (values > span.high))
    with np.errstate(invalid="ignore"):
        clamped = ~nan & ~sentinel & ~outside & (values > (span.clamp_above or np.inf))
    kept = np.where(nan | sentinel | outside, np.nan, values)
    if span.clamp_above is not None:
        kept = np.minimum(kept, span.clamp_above)
    counts = {
        "sentinel": int(sentinel.sum()),
        "out_of_range": int((outside & ~missing_reading).sum()),
        "nan": int(nan.sum()),
        "clamped": int(clamped.sum()),
    }
    return Filtered(kept, {kind: count for kind, count in counts.items() if count})
