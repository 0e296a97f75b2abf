"""The thinned trace says what the samples say: at most 600 points, the highest of each, gaps as gaps."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from common.periods import Period, floor_mark
from fleet.domain.quiet import ACTIVITY
from fleet.domain.signals import Signal
from fleet.models import Gpu
from fleet.queries.samples import load_block, load_peaks
from fleet.queries.trace import TracedGpu, trace
from tests.support.page_data import company, machine, samples

pytestmark = pytest.mark.django_db


def gpus(hours: int) -> tuple[list[Gpu], datetime]:
    now = floor_mark(datetime.now(UTC))
    teams = company(zone="UTC")
    samples(machine("vis-01", teams["vision"], "held", now=now), now, hours=hours)
    return list(Gpu.objects.order_by("index")), now


def test_peaks_are_those_of_the_whole_block() -> None:
    devices, now = gpus(26)
    ids = [gpu.pk for gpu in devices][::-1]
    since, until = now - timedelta(hours=25, minutes=35), now - timedelta(minutes=10)
    found, block = load_peaks(ids, since, until, ACTIVITY), load_block(ids, since, until)
    assert (found.marks == block.marks).all()
    for signal in ACTIVITY:
        np.testing.assert_array_equal(found.of[signal], block.peak[signal])
    np.testing.assert_array_equal(found.minutes, block.minutes)


def test_a_week_is_thinned_to_the_highest_of_each_point_and_gaps_stay() -> None:
    devices, now = gpus(24 * 7)
    period = Period(now - timedelta(days=7), now)
    found = trace([TracedGpu(gpu.pk, gpu.index, str(gpu), "") for gpu in devices], period)
    assert (len(found.marks), found.step) == (504, 1200)
    block = load_block([devices[0].pk], period.start, period.end).peak[Signal.SM_ACTIVE][0].reshape(-1, 4)
    for shown, four in zip(found.gpus[0].peaks, block.tolist(), strict=True):
        seen = [value for value in four if not np.isnan(value)]
        assert shown == (round(max(seen), 2) if len(seen) >= 2 else None)
    assert None in found.gpus[0].peaks
    assert found.marks[-1] == int(now.timestamp())


def test_a_gpu_counts_only_while_it_was_held_and_no_gpu_is_no_trace() -> None:
    devices, now = gpus(12)
    held = (now - timedelta(hours=11)).timestamp(), (now - timedelta(hours=10)).timestamp()
    gpu = TracedGpu(devices[0].pk, 0, "vis-01", "", [held])
    (one,) = trace([gpu], Period(now - timedelta(hours=12), now)).gpus
    assert sum(value is not None for value in one.peaks) == 13
    assert trace([], Period(now - timedelta(hours=1), now)).gpus == []
