"""Passes of judge over time: verdict rows, findings, alerts, idle runs, clocks."""

from __future__ import annotations

import pytest

from alerts.models import Alert
from common.periods import STEP, iso
from fleet.actions.judge import judge_fleet
from fleet.models import Finding, Verdict
from tests.support.sampled_fleet import NoPrices, at, first_seen, machine, play

pytestmark = pytest.mark.django_db


def passes(since: str, until: str) -> None:
    now = at(since)
    while now <= at(until):
        judge_fleet(now=now, prices=NoPrices())
        now += STEP


def states(kind: str = "instance") -> list[tuple[str, str, str]]:
    rows = Verdict.objects.filter(subject_kind=kind).order_by("start")
    return [(f"{row.start:%H:%M}", row.state, row.reason) for row in rows]


def idle_findings() -> list[Finding]:
    return list(Finding.objects.filter(kind="idle").order_by("opened_at"))


def test_no_data_neither_closes_nor_reopens() -> None:
    _, (gpu,) = machine("i-gap")
    first_seen(gpu, "07:55")
    play(gpu, "07:50", "08:55", gpu_util=90)
    play(gpu, "08:55", "11:00", gpu_util=0)
    play(gpu, "11:40", "12:30", gpu_util=0)
    passes("08:00", "12:30")
    assert states() == [
        ("08:00", "working", "busy_now"),
        ("08:40", "working", "busy"),
        ("09:55", "held", "quiet_memory_unknown"),
        ("11:15", "unknown", "stale"),
        ("11:45", "unknown", "low_coverage"),
        ("12:30", "held", "quiet_memory_unknown"),
    ]
    (found,) = idle_findings()
    assert (iso(found.since), found.closed_at, found.opened_at) == ("2025-06-03T08:55:00Z", None, at("09:55"))
    assert Alert.objects.filter(kind="idle").count() == 1
