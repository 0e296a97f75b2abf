"""Whose a thing is at a time, and which policy it has."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from common.periods import BEGINNING, Period
from fleet.actions.ownership import refresh_teams
from fleet.actions.placements import join_hosts
from fleet.models import Gpu, GpuPlacement, GpuUse, Instance, Job
from fleet.queries.ownership import Owned, Resolver, resolver_for
from fleet.queries.policies import Exempt, PolicyBook
from people.models import Team
from tests.support.declared import NOW, apply_text, utc

pytestmark = pytest.mark.django_db

FLEET = """
    teams: [{name: research}, {name: nlp, parent: research}, {name: vision}]
    ownership:
      - {team: nlp, match: {namespace: "nlp-*"}}
      - {team_from: {tag: team}}
      - {team_from: {label: pool}}
    accounts:
      - name: lab
        kind: static
        provider: aws
        instances:
          - {id: a, tags: {team: vision}, owner: boss@example.com, profile: interactive}
          - {id: b, labels: {pool: nlp}, profile: serving}
          - {id: c}
    """


def job(name: str, owner: str = "", **labels: str) -> int:
    return Job.objects.create(kind="pod", external_id=name, owner=owner, labels=labels, started_at=NOW).pk


def instances() -> dict[str, int]:
    return dict(Instance.objects.values_list("external_id", "pk"))


def test_a_job_has_its_own_team_and_owner(tmp_path: Path) -> None:
    apply_text(tmp_path, FLEET)
    teams, ids = dict(Team.objects.values_list("name", "pk")), instances()
    mine = job("nlp-train/p", "dev@example.com", namespace="nlp-train")
    labelled = job("other/p", namespace="other", owner="x@example.com", pool="research")
    resolver = Resolver(NOW)
    assert resolver.owned(ids["a"], None, NOW) == Owned(teams["vision"], "boss@example.com")
    assert resolver.owned(ids["a"], mine, NOW) == Owned(teams["nlp"], "dev@example.com")
    assert resolver.owned(ids["b"], None, NOW) == Owned(teams["nlp"], "")
    assert resolver.owned(ids["b"], labelled, NOW) == Owned(teams["research"], "x@example.com")
    assert resolver.owned(ids["c"], None, NOW) == Owned(None, "")
    assert Resolver(BEGINNING).owned(ids["a"], None, BEGINNING) == Owned(teams["vision"], "boss@example.com")


def test_the_moments_of_change(tmp_path: Path) -> None:
    apply_text(tmp_path, FLEET)
    moved = FLEET.replace("team: vision}, owner", "team: nlp}, owner")
    apply_text(tmp_path, moved, now=NOW + timedelta(hours=1))
    apply_text(tmp_path, moved.replace('"nlp-*"', '"nlp*"'), now=NOW + timedelta(hours=2))
    ids = instances()
    resolver = resolver_for(Period(NOW, NOW + timedelta(days=1)), [ids["a"], ids["c"]])
    assert resolver.changes(ids["a"], NOW, NOW + timedelta(days=1)) == [
        NOW + timedelta(hours=1),
        NOW + timedelta(hours=2),
    ]
    assert resolver.changes(ids["c"], NOW, NOW + timedelta(days=1)) == [NOW + timedelta(hours=2)]
    assert resolver.changes(ids["a"], NOW + timedelta(hours=1), NOW + timedelta(hours=2)) == []


def test_without_any_rule_the_namespace_is_the_team(tmp_path: Path) -> None:
    gpu = Gpu.objects.create(uuid="GPU-1", host="node-1", first_seen_at=NOW, last_seen_at=NOW)
    GpuPlacement.objects.create(gpu=gpu, host="node-1", start=NOW)
    work = job("nlp/p", "dev", namespace="nlp")
    GpuUse.objects.create(gpu=gpu, job_id=work, start=NOW)
    join_hosts(now=NOW)
    refresh_teams(now=NOW)
    row = Instance.objects.get()
    assert Resolver(NOW).owned(row.pk, work, NOW) == Owned(Team.objects.get(name="nlp").pk, "dev")
    assert row.team == Team.objects.get(name="nlp")


POLICIES = """
    people: [{email: boss@example.com}]
    policies:
      - {name: dev, select: {teams: [research, vision], profiles: [interactive]}, exclude: {tags: {keep: "yes"}},
         idle: {window: 2h}}
      - {name: rest, select: {accounts: [lab]}, exclude: {profiles: [serving]}}
    exemptions:
      - {instance: lab/c, reason: deadline, approver: boss@example.com, until: 2025-07-01}
    """


def test_each_instance_has_one_policy(tmp_path: Path) -> None:
    apply_text(tmp_path, FLEET + POLICIES)
    book = PolicyBook(NOW)
    found = {
        row.external_id: book.policy_of(row.external_id, "lab", row.team_id, row.attributes)
        for row in Instance.objects.all()
    }
    assert {name: one.policy for name, one in found.items()} == {"a": "dev", "b": None, "c": "rest"}
    assert (found["a"].idle["window"], found["a"].idle["empty_window"], found["a"].idle["scope"]) == (
        "2h",
        "30m",
        "instance",
    )
    assert (found["a"].exempt, found["b"].exempt) == (None, Exempt("rest", "excluded by profiles", None))
    assert found["c"].exempt == Exempt("boss@example.com", "deadline", utc("2025-07-01T00:00"))
    later = PolicyBook(utc("2025-07-01T00:00"))
    assert later.policy_of("c", "lab", None, {}).exempt is None


def test_an_excluded_one_goes_on(tmp_path: Path) -> None:
    apply_text(tmp_path, (FLEET + POLICIES).replace("tags: {team: vision}", 'tags: {team: vision, keep: "yes"}'))
    row = Instance.objects.get(external_id="a")
    chosen = PolicyBook(NOW).policy_of("a", "lab", row.team_id, row.attributes)
    assert (chosen.policy, chosen.exempt) == ("rest", None)
