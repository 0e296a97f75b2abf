"""Joining the hosts of telemetry to the instances of accounts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from fleet.actions.placements import join_hosts
from fleet.domain.hosts import EARLY
from fleet.models import ChangedHour, Gpu, GpuPlacement, Instance, Job, MeteredSpan
from fleet.queries.inventory import contested_hosts, instances_at, running_instances, starts_up_to, states_between
from people.models import Team
from tests.support.declared import NOW, apply_text, utc

pytestmark = pytest.mark.django_db
START = utc("2025-06-05T00:00")


def gpus(host: str, count: int = 1, start: Any = START, end: Any = None) -> list[Gpu]:
    found = [
        Gpu.objects.create(uuid=f"GPU-{host}-{number}", host=host, first_seen_at=start, last_seen_at=end or NOW)
        for number in range(count)
    ]
    GpuPlacement.objects.bulk_create(GpuPlacement(gpu=gpu, host=host, start=start, end=end) for gpu in found)
    return found


def placements(host: str = "node-1") -> list[tuple[Any, ...]]:
    rows = GpuPlacement.objects.filter(host=host).order_by("gpu_id", "start")
    return list(rows.values_list("start", "end", "instance__account__name", "instance__external_id"))


def lab(*instances: str) -> str:
    return f"accounts: [{{name: lab, kind: static, provider: aws, instances: [{', '.join(instances)}]}}]"


def test_a_host_that_no_account_knows_is_an_instance_of_its_own() -> None:
    devices = gpus("node-1", 2)
    join_hosts(now=NOW)
    row = Instance.objects.get()
    assert (row.account, row.external_id, row.host, row.launched_at, row.state, row.first_seen_at) == (
        None, "node-1", "node-1", None, "running", START,
    )  # fmt: skip
    assert set(Gpu.objects.values_list("instance_id", flat=True)) == {row.pk}
    assert placements() == [(START, None, None, "node-1")] * len(devices)
    join_hosts(now=NOW)
    assert Instance.objects.count() == 1
    assert [one.external_id for one in running_instances(NOW)] == ["node-1"]
    assert instances_at(START - timedelta(seconds=1)) == []


def test_an_account_that_is_declared_later_takes_its_host_with_its_past(tmp_path: Path) -> None:
    gpus("node-1", 2)
    join_hosts(now=NOW)
    stranger = Instance.objects.get()
    MeteredSpan.objects.create(instance=stranger, start=START, until=START + timedelta(hours=3))
    apply_text(tmp_path, lab("{id: i-1, host: NODE-1, gpu_count: 2}"))
    assert placements() == [(START, None, "lab", "i-1")] * 2
    assert list(ChangedHour.objects.order_by("hour").values_list("instance_id", "hour")) == [
        (stranger.pk, START + timedelta(hours=hour)) for hour in range(3)
    ]
    stranger.refresh_from_db()
    assert stranger.state == "gone"
    assert [(one.account, one.external_id) for one in running_instances(NOW)] == [("lab", "i-1")]


def test_a_host_that_was_relaunched_is_split_and_stays_so(tmp_path: Path) -> None:
    gpus("node-1")
    apply_text(tmp_path, lab("{id: i-1, host: node-1, launched_at: 2025-06-04}"))
    assert placements() == [(START, None, "lab", "i-1")]
    apply_text(tmp_path, lab("{id: i-1, host: node-1, launched_at: 2025-06-08}"))
    first, second = Instance.objects.order_by("launched_at")
    cut = utc("2025-06-08T00:00")
    for _ in range(2):
        join_hosts(now=NOW)
        rows = GpuPlacement.objects.order_by("start").values_list("start", "end", "instance_id")
        assert list(rows) == [(START, cut, first.pk), (cut, None, second.pk)]
    assert Gpu.objects.get().instance == second


def test_before_its_launch_a_host_is_somebody_elses(tmp_path: Path) -> None:
    gpus("node-1")
    apply_text(tmp_path, lab("{id: i-1, host: node-1, launched_at: 2025-06-08}"))
    cut = utc("2025-06-08T00:00") - EARLY
    for _ in range(2):
        join_hosts(now=NOW)
        assert placements() == [(START, cut, None, "node-1"), (cut, None, "lab", "i-1")]
        assert Instance.objects.get(account=None).state == "gone"
    assert [one.external_id for one in running_instances(START)] == ["node-1"]
    assert [one.external_id for one in running_instances(NOW)] == ["i-1"]


def test_after_it_was_terminated_a_host_is_nobodys_again(tmp_path: Path) -> None:
    gpus("node-1")
    apply_text(
        tmp_path,
        lab(
            "{id: i-1, host: node-1, history: [{at: 2025-06-01, state: running}, {at: 2025-06-08, state: terminated}]}"
        ),
    )
    cut = utc("2025-06-08T00:00")
    assert placements() == [(START, cut, "lab", "i-1"), (cut, None, None, "node-1")]
    assert Instance.objects.get(account=None).state == "running"


def test_names_differ_by_domain(tmp_path: Path) -> None:
    gpus("node-1.lab.example")
    gpus("10.0.0.1")
    apply_text(tmp_path, lab("{id: i-1, host: node-1}", "{id: i-2, host: 10.0.0.2}"))
    assert placements("node-1.lab.example") == [(START, None, "lab", "i-1")]
    assert placements("10.0.0.1") == [(START, None, None, "10.0.0.1")]


def test_only_some_gpus_may_be_joined(tmp_path: Path) -> None:
    (one,) = gpus("node-1")
    gpus("node-2")
    join_hosts(now=NOW, gpu_ids=[one.pk])
    assert placements("node-1") == [(START, None, None, "node-1")]
    assert placements("node-2") == [(START, None, None, None)]


def test_two_running_instances_contest_a_host(tmp_path: Path) -> None:
    apply_text(
        tmp_path,
        lab(
            "{id: a, host: node-1}",
            "{id: b, host: node-1}",
            "{id: c, host: node-2}",
            "{id: d, host: node-2, state: stopped}",
        ),
    )
    assert contested_hosts(NOW) == {"node-1"}


def test_what_was_at_a_time(tmp_path: Path) -> None:
    entries = [("2025-06-02", "running"), ("2025-06-03", "stopped"), ("2025-06-06", "running")]
    history = f"history: [{', '.join(f'{{at: {day}, state: {state}}}' for day, state in entries)}]"
    apply_text(
        tmp_path,
        lab(f"{{id: a, {history}}}", "{id: b, launched_at: 2025-06-01, last_started_at: 2025-06-04T08:00:00Z}"),
    )
    a, b = Instance.objects.order_by("external_id")
    at = utc("2025-06-03T12:00")
    assert [(one.external_id, one.state) for one in instances_at(at)] == [("a", "stopped")]
    assert running_instances(at) == []
    assert {pk: starts[-1] for pk, starts in starts_up_to(at).items()} == {
        a.pk: utc("2025-06-02T00:00"),
        b.pk: utc("2025-06-01T00:00"),
    }
    assert {pk: starts[-1] for pk, starts in starts_up_to(NOW).items()} == {
        a.pk: utc("2025-06-06T00:00"),
        b.pk: utc("2025-06-04T08:00"),
    }
    runs = states_between([a.pk, b.pk], utc("2025-06-02T12:00"), utc("2025-06-03T12:00"))
    assert [(run.start, run.state.value) for run in runs[a.pk]] == [
        (utc("2025-06-02T00:00"), "running"),
        (utc("2025-06-03T00:00"), "stopped"),
    ]
    assert b.pk not in runs


def test_without_rules_namespaces_make_teams() -> None:
    gpus("node-1")
    Job.objects.create(kind="pod", external_id="nlp/p", labels={"namespace": "nlp", "pod": "p"}, started_at=START)
    join_hosts(now=NOW)
    assert list(Team.objects.values_list("name", "from_telemetry")) == [("nlp", True)]


def test_with_rules_namespaces_make_no_teams(tmp_path: Path) -> None:
    apply_text(tmp_path, "teams: [{name: red}]\nownership: [{team: red}]")
    Job.objects.create(kind="pod", external_id="nlp/p", labels={"namespace": "nlp"}, started_at=START)
    join_hosts(now=NOW)
    assert list(Team.objects.values_list("name", flat=True)) == ["red"]


def test_the_number_of_queries_does_not_grow(tmp_path: Path) -> None:
    counts = []
    for round_ in range(2):
        for number in range(10**round_):
            gpus(f"host-{round_}-{number}", 2)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            join_hosts(now=NOW)
        counts.append(len(queries))
    assert counts[0] == counts[1]
