"""Incidents started in the running demo: the exact verdicts, findings and messages, and that all of it heals."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from alerts.models import Alert
from billing.models import InstancePrice
from common.errors import BadInput, Refused
from config.pipeline import tick
from demo.actions.incidents import end_incident, start_incident
from demo.domain.scripts import NEW_NAME
from demo.management.commands import demo
from demo.queries import newest_runs
from fleet.models import BadSample, Finding, Instance, InstanceState, SampleHour, SourcePull, Verdict, Waiting
from people.actions.world import follow_live_clock
from people.models import AuditEvent

NOW = datetime(2026, 4, 1, 13, tzinfo=UTC)  # a Wednesday of the story
START = NOW + timedelta(minutes=3)
MINUTE = timedelta(minutes=1)
NOTEBOOKS = "lam-apr"  # people come and go there, whatever happens

pytestmark = pytest.mark.slow


@pytest.fixture
def live(db: None, demo_settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo, live at NOW, with the history of this day."""
    monkeypatch.setattr(demo, "PACE", ((timedelta(minutes=30), 1), (timedelta(hours=2), 6)))
    start = demo.begin(now=NOW, days=0)
    demo.fill(start=start, at=NOW)
    follow_live_clock(now=NOW)


def start(*names: str) -> None:
    for name in names:
        start_incident(now=START, by="admin@example.com", name=name)


class Watch:
    """What happens while passes go on: (time, host, state and reason), findings and alerts, as they come."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self.hosts = set(hosts)
        self.at = NOW
        self.states = self._states()
        self.findings = set(Finding.objects.values_list("pk", flat=True))
        self.alerts = set(Alert.objects.values_list("pk", flat=True))
        self.verdicts: list[tuple[str, str, str, str]] = []
        self.found: list[tuple[str, str, str]] = []
        self.told: list[tuple[str, str, str]] = []

    def until(self, hour: int, minute: int) -> Watch:
        """Pass on to a time of the day."""
        end = NOW.replace(hour=hour, minute=minute)
        while self.at < end:
            self.at += timedelta(minutes=5)
            tick(now=self.at)
            self._note()
        return self

    def _note(self) -> None:
        clock, states = f"{self.at:%H:%M}", self._states()
        for host, said in sorted(states.items()):
            if self.states.get(host) != said:
                self.verdicts.append((clock, host, *said))
        self.states = states
        for one in Finding.objects.exclude(pk__in=self.findings).select_related("instance").order_by("pk"):
            self.findings.add(one.pk)
            if one.kind != "low_utilization":
                self._add(self.found, clock, one.kind, one.instance.external_id if one.instance else "")
        for one in Finding.objects.filter(closed_at=self.at).select_related("instance").order_by("kind", "pk"):
            self._add(self.found, clock, f"{one.kind} over", one.instance.external_id if one.instance else "")
        for alert in Alert.objects.exclude(pk__in=self.alerts).order_by("pk"):
            self.alerts.add(alert.pk)
            if alert.kind != "low_utilization":
                self._add(self.told, clock, alert.kind, alert.subject.split("/")[-1][:12])

    @staticmethod
    def _add(rows: list[tuple[str, str, str]], clock: str, kind: str, subject: str) -> None:
        if not subject.startswith(NOTEBOOKS):
            rows.append((clock, kind, subject))

    def _states(self) -> dict[str, tuple[str, str]]:
        rows = Verdict.objects.filter(subject_kind="instance", end=None)
        named = dict(Instance.objects.filter(host__in=self.hosts).values_list("pk", "host"))
        kept = rows.filter(subject_id__in=named).values_list("subject_id", "state", "reason")
        return {named[pk]: (state, reason) for pk, state, reason in kept}


def test_eight_at_a_time_each_with_its_own_end(live: None) -> None:
    before = list(SampleHour.objects.filter(hour__lt=NOW).order_by("gpu_id", "hour").values_list())
    start("left", "hang", "files", "lost", "blank", "renamed", "stopped", "dearer")
    struck = {one.started.name: one.started.hosts for one in newest_runs(START)}
    assert (struck["left"], struck["hang"], len(struck["files"])) == (("fra-dat-02",), ("aws-spc-01",), 8)
    watch = Watch([NEW_NAME, *(host for hosts in struck.values() for host in hosts)]).until(13, 20)
    waits = {one.instance.external_id: (one.quiet_since, one.idle_at) for one in Waiting.objects.all()}
    assert waits["fra-dat-02"] == (NOW, NOW + 30 * MINUTE)
    assert waits["cw-fnd-01"] == (NOW + 5 * MINUTE, NOW + 65 * MINUTE)
    assert "aws-inf-02" not in waits  # busy, apart from the GPU that is gone
    watch.until(15, 30)
    assert not set(Waiting.objects.values_list("instance__external_id", flat=True)) & watch.hosts
    end_incident(now=watch.at, by="admin@example.com", name="dearer")
    watch.until(15, 35)

    assert watch.verdicts == [
        ("13:05", "aws-inf-04", "stopped", "not_running"),
        ("13:10", "aws-inf-01", "unknown", "never_seen"),
        ("13:10", NEW_NAME, "working", "busy"),
        ("13:30", "fra-dat-02", "empty", "quiet_empty"),
        ("14:05", "lam-rob-01", "unknown", "no_activity_signal"),
        ("14:35", "aws-inf-04", "warm_up", "just_started"),
        ("14:40", "aws-inf-01", "working", "busy"),
        ("15:05", "aws-inf-04", "working", "busy"),
        ("15:10", "fra-dat-02", "working", "busy"),
        ("15:10", "lam-rob-01", "working", "busy"),
    ]  # and none of the training machines whose files hung for 50 minutes
    assert watch.found == [
        ("13:10", "unknown_host", NEW_NAME),
        ("13:20", "gpu_lost", "aws-inf-02"),
        ("13:30", "idle", "fra-dat-02"),
        ("13:35", "suspected_hang", "aws-spc-01"),
        ("14:40", "unknown_host over", NEW_NAME),
        ("15:10", "gpu_lost over", "aws-inf-02"),
        ("15:10", "suspected_hang over", "aws-spc-01"),
        ("15:15", "idle over", "fra-dat-02"),
    ]
    assert watch.told == [
        ("13:10", "unknown_host", NEW_NAME[:12]),
        ("13:20", "gpu_lost", "GPU-f6db087c"),
        ("13:30", "idle", "fra-dat-02"),
        ("13:35", "suspected_hang", "tts-finetune"),
    ]
    prices = InstancePrice.objects.filter(instance__external_id="cw-pst-01").order_by("valid_from")
    assert [(one.valid_from, str(one.price_per_hour and one.price_per_hour.normalize())) for one in prices][1:] == [
        (START, "48.01"),
        (NOW.replace(hour=15, minute=30), "42.87"),
    ]
    runs = InstanceState.objects.filter(instance__external_id="aws-inf-04").order_by("start")
    end = START + 90 * MINUTE
    assert list(runs.values_list("state", "start", "end"))[1:] == [("stopped", START, end), ("running", end, None)]
    assert dict(BadSample.objects.values_list("signal", "count")) == dict.fromkeys(
        ("gpu_util", "gr_engine", "sm_active", "tensor", "dram", "encoder", "decoder"), 960
    )  # 120 scrapes of 8 GPUs
    assert list(SampleHour.objects.filter(hour__lt=NOW).order_by("gpu_id", "hour").values_list()) == before
    assert not Alert.objects.exclude(state="resolved").filter(kind__in=("unknown_host", "gpu_lost")).exists()


def test_what_measures_badly_proves_nothing(live: None) -> None:
    start("slow", "counters")
    counters = ["aws-inf-01", "aws-inf-02", "aws-inf-03", "aws-inf-04"]
    watch = Watch(["lam-rob-01", "lam-rob-02", "lam-apr-03", *counters]).until(14, 10)
    assert watch.verdicts == [
        ("13:25", "lam-apr-03", "unknown", "low_coverage"),  # held before: no data is not idle
        ("13:25", "lam-rob-01", "working", "busy_now"),
        ("13:25", "lam-rob-02", "working", "busy_now"),
    ]  # zeroed counters change nothing
    zeroed = Verdict.objects.filter(subject_kind="instance", end=None, state="working", reason="busy")
    assert zeroed.filter(subject_id__in=Instance.objects.filter(host__in=counters).values("pk")).count() == 4
    assert Finding.objects.filter(kind="idle", instance__host="lam-apr-03", closed_at=None).exists()
    end_incident(now=watch.at, by="admin@example.com", name="counters")
    watch.until(14, 50)
    assert watch.verdicts[3:] == [
        ("14:50", "lam-apr-03", "held", "quiet_memory_held"),
        ("14:50", "lam-rob-01", "working", "busy"),
        ("14:50", "lam-rob-02", "working", "busy"),
    ]
    assert watch.found == watch.told == []


def test_no_collector_is_no_idle_fleet(live: None) -> None:
    start("collector")
    hosts = ["cw-fnd-01", "cw-fnd-06", "aws-inf-01", "lam-apr-03"]
    watch = Watch(hosts)
    open_before = set(Finding.objects.filter(kind="idle", closed_at=None).values_list("subject_name", flat=True))
    watch.until(13, 40)
    states = Verdict.objects.filter(subject_kind="instance", end=None).values_list("state", flat=True)
    assert sorted(states) == ["stopped", *["unknown"] * 31]
    assert set(SourcePull.objects.exclude(error_code="").values_list("error_code", flat=True)) == {"source_down"}
    still = set(Finding.objects.filter(kind="idle", closed_at=None).values_list("subject_name", flat=True))
    assert still == open_before  # no data closes nothing and opens nothing
    watch.until(14, 45)
    assert [one[:3] for one in watch.verdicts if one[1] in hosts[:3]] == [
        *(("13:05", host, "unknown") for host in ("aws-inf-01", "cw-fnd-01", "cw-fnd-06")),
        *(("13:50", host, state) for host, state in (("aws-inf-01", "working"), ("cw-fnd-01", "working"))),
        ("13:50", "cw-fnd-06", "unknown"),
        ("14:10", "cw-fnd-06", "empty"),
        *(("14:35", host, "working") for host in ("aws-inf-01", "cw-fnd-01")),
    ]
    assert watch.told == [("13:05", "source", "demo")]
    (alert,) = Alert.objects.filter(kind="source")
    assert (alert.state, alert.resolved_at) == ("resolved", NOW + 45 * MINUTE)


def test_one_run_at_a_time_and_each_act_in_the_trail(db: None, demo_settings: Any) -> None:
    demo.begin(now=NOW, days=0)
    with pytest.raises(Refused, match="not whole"):
        start_incident(now=NOW, by="admin@example.com", name="lost")
    follow_live_clock(now=NOW)
    with pytest.raises(BadInput, match="no incident 'nonsense'"):
        start_incident(now=NOW, by="admin@example.com", name="nonsense")
    with pytest.raises(Refused) as over:
        end_incident(now=NOW, by="admin@example.com", name="stopped")
    assert over.value.code == "incident_is_over"
    start_incident(now=NOW, by="admin@example.com", name="stopped")
    with pytest.raises(Refused) as on:
        start_incident(now=NOW + MINUTE, by="admin@example.com", name="stopped")
    assert on.value.code == "incident_is_on"
    assert end_incident(now=NOW + MINUTE, by="admin@example.com", name="stopped").until == NOW + MINUTE
    start_incident(now=NOW + 2 * MINUTE, by="admin@example.com", name="stopped")
    trail = AuditEvent.objects.filter(subject_kind="incident").order_by("pk")
    assert list(trail.values_list("at", "by", "action", "subject")) == [
        (NOW, "admin@example.com", "start_incident", "stopped"),
        (NOW + MINUTE, "admin@example.com", "end_incident", "stopped"),
        (NOW + 2 * MINUTE, "admin@example.com", "start_incident", "stopped"),
    ]
    assert trail[0].details == {"hosts": ["aws-inf-04"], "until": "2026-04-01T14:30:00Z"}


def test_at_night_nobody_is_there_to_forget_a_job(
    db: None, demo_settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo.begin(now=NOW, days=0)
    follow_live_clock(now=NOW)
    monkeypatch.setattr("demo.actions.incidents.pick", lambda *_asked: ())
    with pytest.raises(Refused) as refused:
        start_incident(now=NOW, by="admin@example.com", name="left")
    assert refused.value.code == "nothing_works"
    assert not AuditEvent.objects.filter(subject_kind="incident").exists()
    assert newest_runs(NOW) == []
