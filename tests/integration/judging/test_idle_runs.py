"""Idle runs, which metering reads: kept pass by pass, repaired for late samples, never moved by a new rule."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.periods import STEP
from fleet.actions.idle_runs import update_idle_runs
from fleet.actions.judge import judge_fleet
from fleet.models import (
    ChangedHour,
    Finding,
    Gpu,
    GpuClock,
    GpuPlacement,
    IdleRuleVersion,
    IdleRun,
    InstanceState,
    Verdict,
)
from tests.support.sampled_fleet import DAY, Device, NoPrices, at, first_seen, machine, play

pytestmark = pytest.mark.django_db


def runs() -> list[tuple[str, str | None]]:
    rows = IdleRun.objects.order_by("gpu_id", "since")
    return [(f"{row.since:%H:%M}", f"{row.until:%H:%M}" if row.until else None) for row in rows]


def passes(since: str, until: str) -> None:
    now = at(since)
    while now <= at(until):
        judge_fleet(now=now, prices=NoPrices())
        now += STEP


def fresh(gpu: Device, until: datetime) -> list[tuple[str, str | None]]:
    """The runs as a fold from nothing tells them."""
    kept, clocks = list(IdleRun.objects.values()), list(GpuClock.objects.values())
    IdleRun.objects.all().delete()
    GpuClock.objects.all().delete()
    update_idle_runs(until=until)
    found = runs()
    IdleRun.objects.all().delete()
    GpuClock.objects.all().delete()
    IdleRun.objects.bulk_create(IdleRun(**row) for row in kept)
    GpuClock.objects.bulk_create(GpuClock(**row) for row in clocks)
    return found


def test_a_run_reaches_back_to_the_clocks_beginning_and_ends_before_work() -> None:
    row, (gpu,) = machine("i-one")
    first_seen(gpu, "07:55")
    play(gpu, "07:50", "08:30", gpu_util=90)
    play(gpu, "08:30", "10:00", gpu_util=0)
    play(gpu, "10:00", "10:05", gpu_util=50)
    play(gpu, "10:05", "12:00", gpu_util=0)
    passes("08:00", "09:25")
    assert runs() == []
    ChangedHour.objects.all().delete()
    passes("09:30", "09:30")
    assert runs() == [("08:30", None)]
    hours = ChangedHour.objects.filter(instance=row).order_by("hour")
    assert [f"{hour.hour:%H}" for hour in hours] == ["08", "09"]
    passes("09:35", "11:00")
    assert runs() == [("08:30", "10:00")]
    passes("11:05", "12:00")
    assert runs() == [("08:30", "10:00"), ("10:05", None)]


def test_samples_that_come_late_are_read_again() -> None:
    _, (gpu,) = machine("i-one")
    first_seen(gpu, "07:55")
    play(gpu, "07:50", "09:30", gpu_util=0)
    passes("08:00", "10:40")  # the source is silent from 09:30 on
    assert runs() == [("07:55", None)]
    play(gpu, "09:30", "09:40", gpu_util=90)  # now it answers for the past
    play(gpu, "09:40", "10:40", gpu_util=0)
    passes("10:40", "10:45")
    assert runs() == [("07:55", "09:30"), ("09:40", None)]


def test_a_back_fill_of_older_times_is_read_from_there() -> None:
    _, (gpu,) = machine("i-one", started="2025-06-01T08:00")
    first_seen(gpu, "2025-06-03T06:05")
    play(gpu, "06:00", "09:00", gpu_util=0)
    passes("08:00", "09:00")
    assert runs() == [("06:05", None)]
    older = Device(gpu.row)
    first_seen(gpu, "2025-06-03T03:05")
    play(older, "03:00", "04:00", gpu_util=90)
    play(older, "04:00", "06:00", gpu_util=0)
    Gpu.objects.update(last_seen_at=at("09:00"))
    update_idle_runs(until=at("09:00"), gpu_ids=[gpu.row.pk], since=at("03:00"))
    assert runs() == [("04:00", None)]
    assert runs() == fresh(gpu, at("09:00"))


def test_a_new_rule_moves_no_past_run() -> None:
    _, (gpu,) = machine("i-one")
    first_seen(gpu, "07:55")
    play(gpu, "07:50", "08:00", gpu_util=90)
    play(gpu, "08:00", "14:00", gpu_util=7)  # busy by the old threshold, idle by the new one
    IdleRuleVersion.objects.create(valid_from=datetime(1970, 1, 1, tzinfo=DAY.tzinfo), spec={"threshold_pct": 5})
    passes("08:00", "10:30")
    IdleRuleVersion.objects.create(valid_from=at("10:32"), spec={"threshold_pct": 10})
    passes("10:35", "12:00")
    assert runs() == [("10:30", None)]
    assert fresh(gpu, at("12:00")) == [("10:30", None)]
    IdleRuleVersion.objects.create(valid_from=at("12:02"), spec={"threshold_pct": 5})
    passes("12:05", "13:00")
    assert runs() == fresh(gpu, at("13:00")) == [("10:30", "12:00")]


def test_a_restart_ends_a_run() -> None:
    row, (gpu,) = machine("i-one")
    first_seen(gpu, "07:55")
    play(gpu, "07:50", "12:00", gpu_util=0)
    passes("09:00", "10:00")
    InstanceState.objects.filter(instance=row).update(end=at("10:12"))
    InstanceState.objects.create(instance=row, start=at("10:12"), state="running")
    passes("10:15", "12:00")
    assert runs() == [("07:55", "10:10"), ("10:15", None)]


PHASES = st.lists(
    st.tuples(st.sampled_from(["quiet", "quiet", "busy", "silent"]), st.sampled_from([1, 2, 4, 10, 14])),
    min_size=4,
    max_size=9,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(phases=PHASES, steps=st.lists(st.sampled_from([1, 1, 2, 5, 11]), min_size=1, max_size=6))
def test_pass_by_pass_and_at_once_tell_the_same_runs(
    phases: list[tuple[str, int]], steps: list[int], django_db_blocker: object
) -> None:
    from django.db import transaction

    with transaction.atomic():
        _, (gpu,) = machine("i-any")
        first_seen(gpu, "06:05")
        now = at("06:00")
        for kind, length in phases:
            later = now + length * STEP
            if kind != "silent":
                play(gpu, f"{now:%Y-%m-%dT%H:%M}", f"{later:%Y-%m-%dT%H:%M}", gpu_util=0 if kind == "quiet" else 80)
            now = later
        end, at_time, turn = now, at("06:30"), 0
        Gpu.objects.update(last_seen_at=end)
        while at_time < end:
            update_idle_runs(until=at_time)
            at_time += steps[turn % len(steps)] * STEP
            turn += 1
        update_idle_runs(until=end + timedelta(seconds=30))
        assert runs() == fresh(gpu, end)
        transaction.set_rollback(True)


def test_a_back_fill_of_the_past_leaves_what_came_after_it() -> None:
    _, (gpu,) = machine("i-one")
    first_seen(gpu, "06:05")
    play(gpu, "06:00", "07:00", gpu_util=90)
    play(gpu, "07:00", "09:00", gpu_util=0)
    play(gpu, "09:00", "09:30", gpu_util=90)
    play(gpu, "09:30", "11:00", gpu_util=0)
    passes("08:00", "11:00")
    assert runs() == [("07:00", "09:00"), ("09:30", None)]
    update_idle_runs(until=at("08:00"), gpu_ids=[gpu.row.pk], since=at("06:00"))
    assert runs() == [("07:00", "09:00"), ("09:30", None)]
    passes("11:05", "11:05")
    assert runs() == [("07:00", "09:00"), ("09:30", None)]


def test_a_replay_behind_a_back_fill_judges_as_if_it_were_live() -> None:
    _, (gpu,) = machine("i-one")
    first_seen(gpu, "06:05")
    play(gpu, "06:00", "07:00", gpu_util=90)
    play(gpu, "07:00", "12:00", gpu_util=0)
    update_idle_runs(until=at("12:00"), gpu_ids=[gpu.row.pk], since=at("06:00"))
    assert runs() == [("07:00", None)]
    passes("07:00", "09:00")
    rows = Verdict.objects.filter(subject_kind="instance").order_by("start")
    assert [(f"{row.start:%H:%M}", row.state) for row in rows] == [("07:00", "working"), ("08:00", "held")]
    assert runs() == [("07:00", None)]
    assert set(GpuClock.objects.values_list("lane", flat=True)) == {"", "behind"}
    passes("11:45", "12:30")
    assert runs() == [("07:00", None)]
    assert Finding.objects.filter(kind="idle").count() == 1


def test_a_card_that_stands_nowhere_any_more_still_has_its_past() -> None:
    row, (gpu,) = machine("i-gone")
    first_seen(gpu, "06:05")
    play(gpu, "06:00", "09:00", gpu_util=0)
    GpuPlacement.objects.filter(gpu=gpu.row).update(end=at("09:00"))
    update_idle_runs(until=at("12:00"), gpu_ids=[gpu.row.pk], since=at("06:00"))
    assert runs() == [("06:05", None)]
