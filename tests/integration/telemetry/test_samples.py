"""Samples in the database: merged, partitioned by month, dropped whole."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from django.db import connection

from fleet.actions.retain import retain
from fleet.actions.samples import store_block
from fleet.domain.samples import SampleBlock, empty_block
from fleet.domain.signals import Signal
from fleet.models import ChangedHour, Gpu, GpuPlacement, Instance, SampleHour, SourcePull
from fleet.queries.samples import load_block, newest_hour

pytestmark = pytest.mark.django_db
START = datetime(2025, 6, 30, 23, 0, tzinfo=UTC)


def block(gpus: list[int], first: datetime, count: int, value: float, points: int = 10) -> SampleBlock:
    marks = np.array([int((first + timedelta(minutes=5 * i)).timestamp()) for i in range(count)], dtype=np.int64)
    made = empty_block(np.array(gpus, dtype=np.int64), marks)
    made.points[:], made.interval[:], made.minutes[:] = points, 30, 5
    made.first_at[:], made.last_at[:] = marks - 270, marks
    made.mean[Signal.SM_ACTIVE][:] = value
    made.peak[Signal.SM_ACTIVE][:] = value + np.arange(len(gpus))[:, None]
    return made


def partitions() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid WHERE inhparent = %s::regclass",
            ["fleet_samplehour"],
        )
        return sorted(name for (name,) in cursor.fetchall())


def test_what_is_stored_is_loaded_in_the_order_asked_for() -> None:
    store_block(block([7, 3], START + timedelta(minutes=5), 15, 40))
    found = load_block([3, 9, 7], START + timedelta(minutes=30), START + timedelta(minutes=85))
    assert found.shape == (3, 11)
    assert found.points.tolist() == [[10] * 9 + [0] * 2, [0] * 11, [10] * 9 + [0] * 2]
    assert found.peak[Signal.SM_ACTIVE][:, 0].tolist()[::2] == [41, 40]
    assert np.isnan(found.mean[Signal.SM_ACTIVE][1]).all()
    assert SampleHour.objects.count() == 4  # two hours, in two months
    assert {"fleet_samplehour_2025_06", "fleet_samplehour_2025_07"} <= set(partitions())


def test_storing_again_writes_only_what_is_stronger() -> None:
    first = START + timedelta(minutes=5)
    assert store_block(block([1], first, 3, 40)).written == 3
    assert store_block(block([1], first, 3, 40)).written == 0
    assert store_block(block([1], first, 3, 90, points=4)).written == 0
    assert store_block(block([1], first, 2, 50, points=11)).changed == [(1, START)]
    assert load_block([1], START, START + timedelta(minutes=15)).mean[Signal.SM_ACTIVE].tolist() == [[50, 50, 40]]


def test_changed_hours_are_marked_where_the_gpu_stood() -> None:
    gpu = Gpu.objects.create(uuid="GPU-1", first_seen_at=START, last_seen_at=START)
    old, new = (Instance.objects.create(external_id=name) for name in ("old", "new"))
    moved = START + timedelta(hours=1)
    GpuPlacement.objects.create(gpu=gpu, start=START, end=moved, instance=old)
    GpuPlacement.objects.create(gpu=gpu, start=moved, instance=new)
    store_block(block([gpu.pk], START + timedelta(minutes=55), 3, 40))
    marked = ChangedHour.objects.order_by("hour").values_list("instance__external_id", "hour")
    assert list(marked) == [("old", START), ("new", START + timedelta(hours=1))]


def test_nothing_is_no_work() -> None:
    assert store_block(block([1], START, 3, 40, points=0)).written == 0
    assert load_block([], START, START + timedelta(hours=1)).shape == (0, 12)
    assert load_block([1], START, START).shape == (1, 0)
    assert SampleHour.objects.count() == 0


def test_old_months_are_dropped_whole_counted_from_the_newest_sample() -> None:
    for month in (1, 2, 5, 6):
        store_block(block([1], datetime(2025, month, 20, 1, tzinfo=UTC), 1, 40))
    SourcePull.objects.all().delete()
    assert newest_hour() == datetime(2025, 6, 20, 0, tzinfo=UTC)
    much_later = datetime(2029, 1, 1, tzinfo=UTC)  # a stopped clock or a restored copy must not lose samples
    assert retain(now=much_later)["dropped"] == 2  # 100 days before 20 June is in March
    kept = partitions()
    assert {"fleet_samplehour_2025_05", "fleet_samplehour_2025_06", "fleet_samplehour_2029_01"} <= set(kept)
    assert not {"fleet_samplehour_2025_01", "fleet_samplehour_2025_02"} & set(kept)
    assert retain(now=much_later)["dropped"] == 0
