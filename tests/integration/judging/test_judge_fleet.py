"""Passes of judge over time: verdict rows, findings, alerts."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from alerts.models import Alert
from common.periods import STEP, iso
from fleet.actions.judge import judge_fleet
from fleet.domain.ports import HourlyPrice
from fleet.models import Account, Finding, Gpu, GpuClock, InstanceState, Policy, Target, Verdict
from fleet.queries.verdicts import judge_at
from people.models import Team
from tests.support.sampled_fleet import Device, NoPrices, at, first_seen, job, machine, play, source
from tests.support.two_at_once import two_at_once

pytestmark = pytest.mark.django_db


class FourDollars:
    def prices(self, instance_ids: Any, at: Any) -> dict[int, HourlyPrice]:
        return {pk: HourlyPrice(Decimal("4.00"), "USD", "inventory") for pk in instance_ids}


def passes(since: str, until: str, before: Callable[[str], None] = lambda _: None) -> None:
    now = at(since)
    while now <= at(until):
        before(f"{now:%H:%M}")
        judge_fleet(now=now, prices=FourDollars())
        now += STEP


def states(kind: str = "instance") -> list[tuple[str, str, str]]:
    rows = Verdict.objects.filter(subject_kind=kind).order_by("start")
    return [(f"{row.start:%H:%M}", row.state, row.reason) for row in rows]


def findings(kind: str = "idle") -> list[tuple[str, str, str | None, str]]:
    rows = Finding.objects.filter(kind=kind).order_by("opened_at")
    return [
        (f"{row.since:%H:%M}", f"{row.opened_at:%H:%M}", f"{row.closed_at:%H:%M}" if row.closed_at else None,
         row.closed_because)
        for row in rows
    ]  # fmt: skip


def works_then_idles(gpu: Device, until: str = "11:00") -> None:
    first_seen(gpu, "07:55")
    play(gpu, "07:50", "08:55", gpu_util=90)
    play(gpu, "08:55", until, gpu_util=0)


def test_no_data_neither_closes_nor_reopens() -> None:
    _, (gpu,) = machine("i-gap")
    works_then_idles(gpu)
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
    assert findings() == [("08:55", "09:55", None, "")]
    assert Alert.objects.filter(kind="idle").count() == 1


def test_verdict_rows_join_without_gap_and_only_one_is_open() -> None:
    _, (gpu,) = machine("i-one")
    works_then_idles(gpu)
    passes("08:00", "11:30")
    for kind in ("gpu", "instance"):
        rows = list(Verdict.objects.filter(subject_kind=kind).order_by("start"))
        assert [row.end for row in rows] == [*(row.start for row in rows[1:]), None]
    row = Verdict.objects.get(subject_kind="gpu", state="held")
    assert row.since == at("08:55")
    assert row.evidence == {
        "window_minutes": 60, "coverage_pct": 100.0, "peak_pct": 0.0, "mean_pct": 0.0, "signal": "gpu_util",
        "points": 12, "interval_seconds": 300, "newest_point_at": "2025-06-03T09:55:00Z", "memory": "unknown",
        "minutes": 60, "threshold_pct": 5.0,
    }  # fmt: skip


def test_the_alert_says_what_was_measured_and_what_it_costs() -> None:
    team = Team.objects.create(name="nlp")
    _, (gpu,) = machine("i-one", tags={"team": "nlp"}, owner="dev@example.com")
    from fleet.models import OwnershipRule

    OwnershipRule.objects.create(valid_from=at("2025-01-01T00:00"), position=0, spec={"team_from": {"tag": "team"}})
    works_then_idles(gpu)
    passes("09:45", "10:10")
    (alert,) = Alert.objects.filter(kind="idle")
    assert (alert.rule, alert.subject_kind, alert.subject, alert.account) == ("idle", "instance", "i-one", "lab")
    assert (alert.team_id, alert.owner, alert.episode, alert.state) == (
        team.pk, "dev@example.com", "2025-06-03T08:55:00Z", "open",
    )  # fmt: skip
    told = {key: alert.facts[key] for key in ("since", "minutes", "peak_pct", "coverage_pct", "memory", "idle_cost")}
    assert told == {
        "since": "2025-06-03T08:55:00Z", "minutes": 60, "peak_pct": 0.0, "coverage_pct": 100.0, "memory": "unknown",
        "idle_cost": "4.00",
    }  # fmt: skip
    assert (alert.facts["price_per_hour"], alert.facts["currency"]) == ("4.00", "USD")
    assert "offsets" not in alert.facts
    assert alert.opened_at == at("09:55")


def test_one_busy_sample_moves_the_clock_and_two_close() -> None:
    _, (gpu,) = machine("i-one")
    works_then_idles(gpu, "10:10")
    play(gpu, "10:10", "10:15", gpu_util=6)
    play(gpu, "10:15", "11:30", gpu_util=0)
    play(gpu, "11:30", "11:40", gpu_util=80)
    play(gpu, "11:40", "13:00", gpu_util=0)
    passes("09:30", "11:35")
    assert findings() == [("10:15", "09:55", None, "")]
    passes("11:40", "12:40")
    assert findings() == [("10:15", "09:55", "11:40", "busy"), ("11:40", "12:40", None, "")]
    assert [alert.state for alert in Alert.objects.filter(kind="idle").order_by("opened_at")] == ["resolved", "open"]
    assert [state for state in states() if state[0] > "09:30"] == [
        ("09:55", "held", "quiet_memory_unknown"),
        ("10:15", "working", "busy"),
        ("11:15", "held", "quiet_memory_unknown"),
        ("11:35", "working", "busy"),
        ("12:40", "held", "quiet_memory_unknown"),
    ]


def test_a_stop_and_a_restart_end_the_episode() -> None:
    row, (gpu,) = machine("i-again")
    works_then_idles(gpu, "10:10")
    passes("09:30", "10:10")
    InstanceState.objects.filter(instance=row).update(end=at("10:12"))
    stopped = InstanceState.objects.create(instance=row, start=at("10:12"), state="stopped")
    passes("10:15", "10:25")
    assert findings() == [("08:55", "09:55", "10:15", "stopped")]
    assert states()[-1] == ("10:15", "stopped", "not_running")
    assert states("gpu")[-1] == ("10:15", "stopped", "not_running")
    InstanceState.objects.filter(pk=stopped.pk).update(end=at("10:32"))
    InstanceState.objects.create(instance=row, start=at("10:32"), state="running")
    play(gpu, "10:30", "12:00", gpu_util=0)
    passes("10:35", "12:00")
    assert findings() == [("08:55", "09:55", "10:15", "stopped"), ("10:35", "11:35", None, "")]


def test_a_restart_that_no_pass_saw_begins_a_new_episode() -> None:
    row, (gpu,) = machine("i-again")
    works_then_idles(gpu, "12:00")
    passes("09:50", "10:00")
    InstanceState.objects.filter(instance=row).update(end=at("10:12"))
    InstanceState.objects.create(instance=row, start=at("10:12"), state="running")
    passes("11:30", "11:30")
    assert findings() == [("08:55", "09:55", "11:30", "restarted"), ("10:15", "11:30", None, "")]


def test_a_pass_again_changes_nothing() -> None:
    _, (gpu,) = machine("i-one")
    works_then_idles(gpu)
    passes("09:30", "10:30")
    before = (list(Verdict.objects.order_by("pk").values()), list(Finding.objects.order_by("pk").values()))
    result = judge_fleet(now=at("10:30"), prices=FourDollars())
    assert (result.changed, result.opened, result.closed) == (0, 0, 0)
    assert (list(Verdict.objects.order_by("pk").values()), list(Finding.objects.order_by("pk").values())) == before


def test_open_findings_count_their_minutes_on_over_cards_that_idle_since_different_times() -> None:
    _, (one, two) = machine("i-two", gpus=2)
    works_then_idles(one, "12:00")
    first_seen(two, "07:55")
    play(two, "07:50", "09:25", gpu_util=90)
    play(two, "09:25", "12:00", gpu_util=0)
    for now, minutes in (("10:25", 60), ("10:30", 65), ("11:50", 145)):
        judge_fleet(now=at(now), prices=FourDollars())
        (row,) = Finding.objects.filter(kind="idle")
        assert (iso(row.since), row.evidence["minutes"]) == ("2025-06-03T09:25:00Z", minutes)


def test_a_hang_is_told_once_and_closed_when_work_comes_back() -> None:
    _, (gpu,) = machine("i-hung")
    first_seen(gpu, "07:55")
    shown: dict[str, Any] = {"power_watts": 640.0, "tensor": 40.0, "dram": 30.0}
    play(gpu, "07:50", "09:00", gpu_util=97, **shown)
    play(gpu, "09:00", "10:00", gpu_util=100, power_watts=110, tensor=0, dram=0)
    play(gpu, "10:00", "10:20", gpu_util=97, **shown)
    passes("09:20", "10:15")
    assert findings("suspected_hang") == [("09:00", "09:30", "10:05", "over")]
    assert findings() == []
    assert Alert.objects.get(kind="suspected_hang").facts["power_watts"] == 110.0


def test_targets_that_are_down_and_what_has_no_team() -> None:
    Account.objects.create(name="lab", kind="static", provider="aws")
    row, (gpu,) = machine("node-9", account=None, started=None)
    play(gpu, "08:00", "09:00", gpu_util=90)
    target = Target.objects.create(
        source=source(), name="dcgm/node-9", interval_seconds=300, is_up=False, changed_at=at("08:50")
    )
    Gpu.objects.filter(pk=gpu.row.pk).update(target=target)
    Target.objects.create(source=source(), name="dcgm/node-8", interval_seconds=300, is_up=None, changed_at=at("08:00"))
    passes("09:00", "09:00")
    assert findings("target_down") == []
    passes("09:05", "09:05")
    assert findings("target_down") == [("08:50", "09:05", None, "")]
    (shown,) = judge_at(at("09:05"), NoPrices())
    down = {"source": source().name, "interval_seconds": 300, "subject": {"kind": "target", "id": "dcgm/node-9"}}
    found = [one for one in shown["findings"] if one["kind"] == "target_down"]
    assert found == [{"kind": "target_down", "since": iso(at("08:50")), "minutes": 15, "evidence": down}]
    Target.objects.update(is_up=True, changed_at=at("09:07"))
    passes("09:10", "09:10")
    assert findings("target_down") == [("08:50", "09:05", "09:10", "over")]
    assert Finding.objects.get(kind="unassigned").subject_name == "node-9"
    machine("i-known")
    passes("09:15", "09:15")
    assert Finding.objects.get(kind="unknown_host").evidence["why"] == "no_account"


def test_idle_jobs_are_found_where_the_policy_judges_jobs() -> None:
    _, (gpu,) = machine("i-one", profile="batch")
    spec = {"select": {"profiles": ["batch"]}, "idle": {"scope": "job"}}
    Policy.objects.create(name="batch", position=0, spec=spec)
    works_then_idles(gpu)
    job("77", [gpu], "07:55", owner="ann")
    passes("09:50", "09:55")
    rows = Finding.objects.filter(kind="idle").order_by("subject_kind")
    assert [(row.subject_kind, row.subject_name) for row in rows] == [("instance", "i-one"), ("job", "77")]
    assert Verdict.objects.get(subject_kind="job", end=None).state == "held"


def test_what_is_gone_has_no_verdict_any_more() -> None:
    _, (gpu,) = machine("i-one")
    works_then_idles(gpu)
    held = job("77", [gpu], "07:55")
    passes("09:00", "09:00")
    held.ended_at = at("09:02")
    held.save()
    held.uses.update(end=at("09:02"))
    passes("09:05", "09:05")
    assert list(Verdict.objects.filter(end=None).values_list("subject_kind", flat=True).order_by("subject_kind")) == [
        "gpu",
        "instance",
    ]


def test_passes_and_recomputing_say_the_same_under_two_rules() -> None:
    _, (one, two) = machine("i-two", gpus=2, profile="interactive")
    _, (three,) = machine("i-other")
    spec = {"select": {"profiles": ["interactive"]}, "idle": {"window": "45m", "warm_up": "45m", "empty_window": "45m"}}
    Policy.objects.create(name="dev", position=0, spec=spec)
    for gpu in (one, two, three):
        works_then_idles(gpu, "10:00")
        play(gpu, "10:25", "11:00", gpu_util=0, memory_mib=10)
        play(gpu, "11:00", "11:05", gpu_util=50, memory_mib=10)
        play(gpu, "11:05", "13:00", gpu_util=0, memory_mib=10)
    now = at("08:00")
    while now <= at("13:00"):
        judge_fleet(now=now, prices=NoPrices())
        stored = {
            row.subject_id: (row.state, row.reason, iso(row.since) if row.since else None)
            for row in Verdict.objects.filter(subject_kind="instance", end=None)
        }
        told = [(row["state"], row["reason"], row["since"]) for row in judge_at(now, NoPrices())]
        assert sorted(stored.values(), key=repr) == sorted(told, key=repr), now
        now += STEP
    assert GpuClock.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_two_passes_at_once_open_one_finding() -> None:
    machine("i-none", gpus=0)
    two_at_once(lambda: judge_fleet(now=at("10:00"), prices=FourDollars()))
    assert (len(states()), len(findings("unassigned")), Alert.objects.filter(rule="unassigned").count()) == (1, 1, 1)
