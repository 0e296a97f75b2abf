"""Declare ownership rules with their dates; without any, make teams of namespaces; keep teams of what there is now."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, Q, Subquery, TextField
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast

from common.declared import Change, Verb
from common.periods import BEGINNING, parse_moment
from fleet.actions.changed_hours import mark_all_from
from fleet.models import GpuUse, Instance, Job, OwnershipRule
from fleet.queries.ownership import Resolver
from people.actions.teams import ensure_teams

Rule = Mapping[str, Any]


def declare_ownership(rules: Sequence[Rule], *, now: datetime) -> list[Change]:
    """Make ``rules`` the set in force: a first set from the beginning of time, a later one from now or its own dates.

    A rule's ``valid_from`` says since when it takes part. A change that only adds such rules reaches back to the first
    of them; any other change holds from ``now``.
    """
    newest = OwnershipRule.objects.order_by("-valid_from").first()
    if newest is None and not rules:
        return []
    declared = _declared_set()
    if declared == list(rules):
        return [Change(Verb.UNCHANGED, "ownership", "ownership")]
    start = BEGINNING if newest is None else _start(declared, rules, now)
    OwnershipRule.objects.filter(valid_from__gte=start).delete()
    dates = {parse_moment(rule["valid_from"]) for rule in rules if rule.get("valid_from")}
    for at in [start, *sorted(date for date in dates if date > start)]:
        _write_set(
            at, [rule for rule in rules if not rule.get("valid_from") or parse_moment(rule["valid_from"]) <= at], rules
        )
    mark_all_from(start)
    return [
        Change(Verb.CREATED if newest is None else Verb.CHANGED, "ownership", "ownership", ("rules",) if newest else ())
    ]


def _declared_set() -> list[Rule]:
    """Give the rules as they were last declared, those that do not take part yet or any more too."""
    newest = OwnershipRule.objects.order_by("-valid_from", "position").first()
    return list(newest.declared_set or []) if newest else []


def _start(old: Sequence[Rule], new: Sequence[Rule], now: datetime) -> datetime:
    """Give since when a changed set holds."""
    added = [rule for rule in new if rule not in old]
    kept = [rule for rule in new if rule in old]
    if kept == list(old) and all(rule.get("valid_from") for rule in added):
        return min(parse_moment(rule["valid_from"]) for rule in added)
    return now


def _write_set(at: datetime, active: Sequence[Rule], declared: Sequence[Rule]) -> None:
    """Write the set in force from ``at`` on; a set without rules is one that assigns nothing."""
    OwnershipRule.objects.bulk_create(
        OwnershipRule(
            valid_from=at, position=position, spec=dict(rule), declared_set=list(declared) if position == 0 else None
        )
        for position, rule in enumerate(active or [{}])
    )


def make_telemetry_teams() -> int:
    """While no rule was ever declared: make a team of every namespace that a job names. Gives how many were made."""
    if OwnershipRule.objects.exists():
        return 0
    names = Job.objects.annotate(namespace=Cast(KeyTextTransform("namespace", "labels"), TextField()))
    return ensure_teams(set(names.exclude(namespace=None).values_list("namespace", flat=True).distinct()))


def refresh_teams(
    *, now: datetime, instance_ids: Collection[int] | None = None, resolver: Resolver | None = None
) -> int:
    """Set the team of now of every instance (or of these): by rules and claims, else the one that all its jobs have."""
    resolver = resolver or Resolver(now, instance_ids)
    used = GpuUse.objects.filter(end=None, gpu__instance__isnull=False)
    instances = Instance.objects.all()
    if instance_ids is not None:
        used, instances = used.filter(gpu__instance__in=instance_ids), instances.filter(pk__in=instance_ids)
    uses = used.values_list("gpu__instance_id", "job_id").distinct()
    jobs: dict[int, set[int]] = {}
    for instance_id, job_id in uses:
        jobs.setdefault(instance_id, set()).add(job_id)
    resolver.load_jobs({job_id for ids in jobs.values() for job_id in ids})
    changed: dict[int | None, list[int]] = {}
    for pk, before in instances.values_list("pk", "team_id"):
        team_id = resolver.owned(pk, None, now).team_id
        if team_id is None:
            teams = {resolver.owned(pk, job_id, now).team_id for job_id in jobs.get(pk, ())}
            team_id = next(iter(teams)) if len(teams) == 1 else None
        if team_id != before:
            changed.setdefault(team_id, []).append(pk)
    for team_id, ids in changed.items():
        Instance.objects.filter(pk__in=ids).update(team_id=team_id)
    return sum(len(ids) for ids in changed.values())


def refresh_job_teams(
    *, now: datetime, job_ids: Collection[int] | None = None, resolver: Resolver | None = None
) -> int:
    """Set the team of every job that runs, and of one that ended since for the last time; give how many changed.

    A job is whose the rules say on the machine of its newest use: while it runs by those of ``now``, else by those of
    its end. ``job_ids``: only these, settled or not. ``resolver``: of now and of all instances, where one was read.
    """
    newest = GpuUse.objects.filter(job=OuterRef("pk"), gpu__instance__isnull=False).order_by("-start", "-pk")
    is_unsettled = Q(ended_at=None) | Q(team_settled_at=None) | Q(team_settled_at__lt=F("ended_at"))
    unsettled = Job.objects.filter(is_unsettled if job_ids is None else Q(pk__in=job_ids)).annotate(
        instance_id=Subquery(newest.values("gpu__instance_id")[:1])
    )
    rows = list(unsettled.exclude(instance_id=None).values_list("pk", "instance_id", "ended_at", "team_id"))
    if not rows:
        return 0
    resolver = resolver or Resolver(now, {instance_id for _, instance_id, _, _ in rows})
    resolver.load_jobs([pk for pk, *_ in rows])
    changed: dict[int | None, list[int]] = {}
    for pk, instance_id, ended_at, before in rows:
        team_id = resolver.owned(instance_id, pk, min(ended_at or now, now)).team_id
        if team_id != before:
            changed.setdefault(team_id, []).append(pk)
    for team_id, ids in changed.items():
        Job.objects.filter(pk__in=ids).update(team_id=team_id)
    over = [pk for pk, _, ended_at, _ in rows if ended_at is not None and ended_at <= now]
    if over:
        Job.objects.filter(pk__in=over).update(team_settled_at=now)
    return sum(len(ids) for ids in changed.values())
