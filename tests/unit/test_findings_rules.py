"""Hangs and low use, sample by sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fleet.domain.hang import find_hangs
from fleet.domain.idle import IdleRule, facts_of
from fleet.domain.idle_cost import cost_of
from fleet.domain.samples import SampleBlock, empty_block
from fleet.domain.signals import Signal
from fleet.domain.utilization import Use, measure

BASE = 1_748_908_800
WORK = {"gpu_util": 97.0, "tensor": 40.0, "dram": 30.0, "power_watts": 640.0, "memory_mib": 70_000.0}
SPIN = {"gpu_util": 100.0, "tensor": 0.0, "dram": 0.0, "power_watts": 115.0, "memory_mib": 70_000.0}


def block_of(*phases: tuple[int, dict[str, float] | None]) -> SampleBlock:
    """One GPU, a point every five minutes; None: no point."""
    shown = [signals for length, signals in phases for _ in range(length)]
    block = empty_block(np.array([1], dtype=np.int64), np.arange(1, len(shown) + 1, dtype=np.int64) * 300 + BASE)
    for n, signals in enumerate(shown):
        if signals is None:
            continue
        block.points[0, n], block.interval[0, n], block.minutes[0, n] = 1, 300, 5
        block.first_at[0, n] = block.last_at[0, n] = block.marks[n]
        for name, value in signals.items():
            block.mean[Signal(name)][0, n] = block.peak[Signal(name)][0, n] = value
    return block


def hang(block: SampleBlock, *, began: float = BASE - 300, **facts: Any) -> tuple[bool, float, float]:
    known = {"power_limit_watts": 700.0, "memory_total_mib": 81_559.0} | facts
    found = find_hangs(block, facts_of(1, **known), IdleRule(), np.array([began]))
    return bool(found.is_hung[0]), float(found.since[0]), float(found.minutes[0])


def test_half_an_hour_of_spinning_after_work() -> None:
    assert hang(block_of((12, WORK), (6, SPIN))) == (True, BASE + 12 * 300, 30.0)
    assert hang(block_of((12, WORK), (5, SPIN)))[0] is False
    assert hang(block_of((12, WORK), (18, SPIN))) == (True, BASE + 12 * 300, 90.0)


@pytest.mark.parametrize(
    ("why", "change"),
    [
        ("the tensor pipe works", {"tensor": 0.5}),
        ("memory moves", {"dram": 1.0}),
        ("not at the top", {"gpu_util": 94.9}),
        ("much power flows", {"power_watts": 246.0}),
        ("the power is not known", {"power_watts": np.nan}),
        ("memory is empty", {"memory_mib": 100.0}),
    ],
)
def test_no_hang(why: str, change: dict[str, float]) -> None:
    assert hang(block_of((12, WORK), (12, SPIN | change)))[0] is False, why


def test_absent_pipes_and_memory_do_not_speak_against_it() -> None:
    bare = {"gpu_util": 100.0, "power_watts": 100.0}
    assert hang(block_of((6, {"gpu_util": 90.0, "power_watts": 500.0}), (6, bare)))[0] is True


def test_it_must_have_worked_before_in_this_job() -> None:
    assert hang(block_of((12, SPIN)))[0] is False
    assert hang(block_of((12, WORK), (12, SPIN)), began=BASE + 12 * 300)[0] is False


def test_power_must_be_flat_and_its_limit_known() -> None:
    wavy = block_of((12, WORK), *[(1, SPIN | {"power_watts": 100.0 + 40 * (n % 2)}) for n in range(8)])
    assert hang(wavy)[0] is False
    assert hang(block_of((12, WORK), (6, SPIN)), power_limit_watts=np.nan)[0] is False


def test_silence_hides_a_hang() -> None:
    assert hang(block_of((12, WORK), (6, SPIN), (4, None)))[0] is False
    assert hang(block_of((12, WORK), (3, SPIN), (4, None), (4, SPIN)))[0] is False


def test_slices_are_never_called_hung() -> None:
    assert hang(block_of((12, WORK), (6, SPIN)), is_mig=True)[0] is False


def use(*phases: tuple[int, dict[str, float] | None], **facts: Any) -> Use | None:
    block = block_of(*phases)
    inside = np.ones(block.shape, dtype=np.bool_)
    return measure(block, np.array([facts.get("is_mig", False)]), np.array([facts.get("total", 80_000.0)]), inside)


def test_use_is_weighed_by_time() -> None:
    found = use((216, {"gpu_util": 10.0, "memory_mib": 40_000.0}), (72, {"gpu_util": 50.0, "memory_mib": 60_000.0}))
    assert found == Use(gpu_hours=24.0, mean_pct=20.0, p95_pct=50.0, memory_share=0.75, peak_pct=50.0)
    assert found.is_low is False  # half of the 95th percentile is reached
    assert use((288, {"gpu_util": 24.5})) == Use(24.0, 24.5, 24.5, None, 24.5)


@pytest.mark.parametrize(
    ("found", "is_low"),
    [
        (Use(24.0, 24.99, 49.99, 0.79, 100.0), True),
        (Use(24.0, 24.99, 49.99, None, 100.0), True),
        (Use(23.99, 24.99, 49.99, 0.79, 100.0), False),
        (Use(24.0, 25.0, 49.99, 0.79, 100.0), False),
        (Use(24.0, 24.99, 50.0, 0.79, 100.0), False),
        (Use(24.0, 24.99, 49.99, 0.80, 100.0), False),
    ],
)
def test_lines_of_low_use(found: Use, is_low: bool) -> None:
    assert found.is_low is is_low


def test_use_of_what_tells_nothing_is_unknown() -> None:
    assert use((12, None)) is None
    assert use((12, {"memory_mib": 5.0})) is None
    assert use((12, {"gpu_util": 0.0}), is_mig=True) is None


@pytest.mark.parametrize(
    ("price", "minutes", "cost"),
    [("4.00", 300, "20.00"), ("4.00", 290, "19.33"), ("3.06", 175, "8.92"), ("0.01", 30, "0.00"), ("0.03", 30, "0.02")],
)
def test_idle_cost_is_rounded_half_to_even(price: str, minutes: float, cost: str) -> None:
    from decimal import Decimal

    assert str(cost_of(Decimal(price), minutes)) == cost
