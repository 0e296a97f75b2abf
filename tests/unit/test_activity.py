"""Which signal tells a sample's activity, and when a profiling signal at 0 is passed over."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from fleet.domain.activity import activity_pct
from fleet.domain.samples import SampleBlock, empty_block
from fleet.domain.signals import Signal

NAN = float("nan")


def block_of(util: float, engine: float, sm: float) -> SampleBlock:
    """One GPU, one sample; mean and peak are the same."""
    block = empty_block(np.array([1], dtype=np.int64), np.array([300], dtype=np.int64))
    values = {Signal.GPU_UTIL: util, Signal.GR_ENGINE: engine, Signal.SM_ACTIVE: sm}
    arrays = {signal: np.full((1, 1), value, dtype=np.float32) for signal, value in values.items()}
    return replace(block, mean={**block.mean, **arrays}, peak={**block.peak, **arrays})


@pytest.mark.parametrize(
    ("util", "engine", "sm", "is_mig", "shown"),
    [
        (99, 90, 60, False, 60.0),  # SM_ACTIVE is trusted first
        (99, 90, NAN, False, 90.0),
        (99, NAN, NAN, False, 99.0),
        (99, 0, 0, False, 99.0),  # counters held by another profiler: 0 at full load proves nothing
        (99, 90, 0, False, 90.0),
        (4, 0, 0, False, 0.0),  # below the threshold the two agree
        (0, 0, 0, False, 0.0),
        (99, 0, NAN, True, 0.0),  # on a MIG slice GPU_UTIL is no measurement and contradicts nothing
        (99, NAN, NAN, True, NAN),
        (NAN, NAN, NAN, False, NAN),
        (99, 0.5, NAN, False, 0.5),  # a tiny kernel: measured, and not 0
    ],
)
def test_the_activity_shown(util: float, engine: float, sm: float, is_mig: bool, shown: float) -> None:
    block = block_of(util, engine, sm)
    for peaks in (False, True):
        found = activity_pct(block, np.array([is_mig]), peaks=peaks)
        np.testing.assert_array_equal(found, [[np.float32(shown)]])
