"""Power baselines at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from fleet.models import PowerBaseline

NEEDS_BASELINE = "amd"  # the vendor whose cards report activity while they do nothing


def power_baselines(at: datetime) -> dict[str, float]:
    """Give watts by model at ``at``; before the first was learned, that one."""
    found: dict[str, float] = {}
    rows = PowerBaseline.objects.order_by("model", "valid_from").values_list("model", "valid_from", "watts")
    for model, valid_from, watts in rows:
        if model not in found or valid_from <= at:
            found[model] = watts
    return found


def baselines_of(gpus: Iterable[tuple[str, str]], at: datetime) -> NDArray[np.float64]:
    """Give the baseline in watts of each GPU, told by (vendor, model); NaN: not known, or not needed."""
    listed = list(gpus)
    known: Mapping[str, float] = power_baselines(at) if any(vendor == NEEDS_BASELINE for vendor, _ in listed) else {}
    return np.array(
        [known.get(model, np.nan) if vendor == NEEDS_BASELINE else np.nan for vendor, model in listed],
        dtype=np.float64,
    )
