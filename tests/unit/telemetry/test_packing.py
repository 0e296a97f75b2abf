from __future__ import annotations

import numpy as np
import pytest

from fleet.domain import packing
from fleet.domain.samples import SampleBlock, empty_block
from fleet.domain.signals import RANGES, Signal

MARKS = np.array([3900, 4200], dtype=np.int64)


def block(value: float, points: int = 10) -> SampleBlock:
    made = empty_block(np.array([7]), MARKS)
    made.points[:], made.interval[:], made.minutes[:] = points, 30, 4.5
    made.first_at[:], made.last_at[:] = MARKS - 299.995, MARKS
    for table in (made.mean, made.peak):
        table[Signal.SM_ACTIVE][:] = value
    return made


def round_trip(made: SampleBlock) -> SampleBlock:
    found = empty_block(made.gpu_ids, made.marks)
    packing.unpack(packing.pack(made), made.marks, found, np.array([0]))
    return found


@pytest.mark.parametrize("value", [0, 0.01, 40.8, 99.99, 100])
def test_two_decimals_of_a_percent_survive(value: float) -> None:
    found = round_trip(block(value))
    assert round(float(found.mean[Signal.SM_ACTIVE][0, 0]), 2) == value
    assert (found.first_at[0, 0], found.last_at[0, 0]) == (3600.005, 3900)
    assert (found.points[0, 0], found.interval[0, 0], found.minutes[0, 0]) == (10, 30, 4.5)
    assert np.isnan(found.mean[Signal.GPU_UTIL]).all()


@pytest.mark.parametrize("signal", list(Signal))
def test_the_greatest_value_of_every_signal_fits(signal: Signal) -> None:
    made = block(1)
    high = RANGES[signal].clamp_above or RANGES[signal].high
    made.peak[signal][:] = high
    assert round_trip(made).peak[signal][0, 0] == high


def test_a_sample_without_points_is_nothing() -> None:
    found = round_trip(block(50, points=0))
    assert found.points.tolist() == [[0, 0]]
    assert np.isnan(found.mean[Signal.SM_ACTIVE]).all()
    assert np.isnan(found.last_at).all()


def test_fewer_points_never_replace_more() -> None:
    old, new = packing.pack(block(40, 10)), packing.pack(block(90, 7))
    merged, changed = packing.merge(old, new)
    assert not changed.any()
    assert merged.tobytes() == old.tobytes()
    assert packing.merge(new, old)[1].all()


def test_a_missing_signal_never_replaces_a_known_one() -> None:
    old, made = packing.pack(block(40, 7)), block(90, 10)
    made.mean[Signal.SM_ACTIVE][:] = np.nan
    merged, _ = packing.merge(old, packing.pack(made))
    assert merged["sm_active_mean"].tolist() == [[20000, 20000]]
    assert merged["sm_active_peak"].tolist() == [[45000, 45000]]
    assert merged["points"].tolist() == [[10, 10]]


def test_the_sample_that_ends_at_a_full_hour_is_the_last_of_the_hour_before() -> None:
    marks = np.array([3600, 3900, 7200], dtype=np.int64)
    assert packing.hour_of(marks).tolist() == [0, 3600, 3600]
    assert packing.slot_of(marks).tolist() == [11, 0, 11]
