from __future__ import annotations

import numpy as np
import pytest

from fleet.domain.plausible import keep_plausible
from fleet.domain.signals import Signal

NAN = float("nan")


@pytest.mark.parametrize(
    ("signal", "scale", "raw", "kept", "counts"),
    [
        (Signal.GPU_UTIL, 1, [0, 100, 100.5, -1], [0, 100, NAN, NAN], {"out_of_range": 2}),
        (Signal.GPU_UTIL, 1, [4294967295, 2147483632, 808334905], [NAN] * 3, {"sentinel": 2, "out_of_range": 1}),
        (Signal.GPU_UTIL, 1, [9223372036854775794, 140737488355328.0, NAN], [NAN] * 3, {"sentinel": 2, "nan": 1}),
        (Signal.SM_ACTIVE, 100, [1.294, 1.6, 0.5], [100, NAN, 50], {"clamped": 1, "out_of_range": 1}),
        (Signal.POWER_WATTS, 1, [0, 26.9, 140737488355330.0], [NAN, 26.9, NAN], {"sentinel": 1}),  # 0 W: no reading
        (Signal.TEMPERATURE_C, 1, [0, 130, 131], [NAN, 130, NAN], {"out_of_range": 1}),
        (Signal.MEMORY_MIB, 1, [0, 81559, 2147483634], [0, 81559, NAN], {"sentinel": 1}),
        (Signal.MEMORY_MIB, 2**-20, [8.5e10, 9223372036854775792], [8.5e10 / 2**20, NAN], {"sentinel": 1}),
        (Signal.GPU_UTIL, 1, [float("inf"), float("-inf")], [NAN, NAN], {"sentinel": 1, "out_of_range": 1}),
    ],
)
def test_what_is_no_measurement_is_dropped_and_counted(
    signal: Signal, scale: float, raw: list[float], kept: list[float], counts: dict[str, int]
) -> None:
    found = keep_plausible(np.array(raw, dtype=float), signal, scale)
    np.testing.assert_allclose(found.values, kept, rtol=1e-9)
    assert found.counts == counts
