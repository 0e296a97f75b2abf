"""Claim what no rule gives to a team, and take a claim back. The next pass meters the hours that it moves again."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from django.db import transaction

from common.errors import BadInput, Refused
from common.periods import BEGINNING, floor_mark, iso
from fleet.actions.changed_hours import mark_from
from fleet.actions.ownership import refresh_job_teams, refresh_teams
from fleet.models import Claim, GpuUse, Instance, Job
from fleet.queries.claims import instances_of_job
from fleet.queries.ownership import Resolver
from people.actions.audit import record
from people.queries import teams

UNDONE_WITHIN = timedelta(hours=24)
"""How long a claim can be taken back as if it had never been; later it ends, and the past stays."""


@dataclass(frozen=True)
class Subject:
    """What is claimed: an `instance` or a `job`, by its row id."""

    kind: Literal["instance", "job"]
    id: int


@transaction.atomic
def claim(*, now: datetime, by: str, subject: Subject, team_id: int, from_beginning: bool) -> Claim:
    """Give ``subject`` to a team, from ``now`` on or from its beginning (else from the end of an earlier claim).

    Raises BadInput (no_such_subject), Refused (already_claimed, has_a_team): of two at once one wins.
    """
    thing = _locked(subject)
    earlier = Claim.objects.filter(**{subject.kind: thing})
    if earlier.filter(valid_to=None).exists():
        raise Refused(
            "already_claimed", "Somebody else has claimed it in the meantime.", hint="Look again: it may have a team."
        )
    places = [subject.id] if subject.kind == "instance" else instances_of_job(subject.id)
    if _has_team(subject, places, now):
        raise Refused("has_a_team", "It has a team by now.", hint="A rule or another claim names one.")
    start = floor_mark(now)
    if from_beginning:
        start = max((one for one in earlier.values_list("valid_to", flat=True) if one), default=BEGINNING)
    made = Claim.objects.create(**{subject.kind: thing}, team_id=team_id, valid_from=start, made_at=now, made_by=by)
    _moved(made, places, since=start, now=now)
    record(
        now=now, by=by, action="claim", subject_kind=subject.kind, subject=thing.external_id,
        team=teams()[team_id].name, valid_from=iso(start), id=made.pk,
    )  # fmt: skip
    return made


@transaction.atomic
def take_back(*, now: datetime, by: str, claim_id: int) -> bool:
    """Undo a claim of the last day as if it had never been (True), or end an older one ``now`` (False).

    Raises BadInput (no_such_claim) when it is not open any more.
    """
    row = Claim.objects.select_for_update().filter(pk=claim_id, valid_to=None).first()
    if row is None:
        raise BadInput("no_such_claim", "This claim is not open any more.", hint="Look again.")
    is_undone = now - row.made_at <= UNDONE_WITHIN
    since = row.valid_from if is_undone else max(floor_mark(now), row.valid_from)
    subject = row.instance or row.job
    assert subject is not None, "a claim is about one thing"
    places = [row.instance_id] if row.instance_id else instances_of_job(row.job_id or 0)
    record(
        now=now, by=by, action="claim_undone" if is_undone else "claim_ended",
        subject_kind="instance" if row.instance_id else "job", subject=subject.external_id,
        team=row.team.name, valid_from=iso(row.valid_from), valid_to=None if is_undone else iso(since), id=row.pk,
    )  # fmt: skip
    if is_undone:
        row.delete()
    else:
        row.valid_to = since
        row.save()
    _moved(row, places, since=since, now=now)
    return is_undone


def _locked(subject: Subject) -> Instance | Job:
    """Lock the thing, so that of two who claim it the second one sees the claim of the first."""
    rows = Instance.objects if subject.kind == "instance" else Job.objects
    found = rows.select_for_update().filter(pk=subject.id).first()
    if found is None:
        raise BadInput("no_such_subject", f"There is no such {subject.kind}.", hint="Look again.")
    return found


def _has_team(subject: Subject, places: Collection[int], now: datetime) -> bool:
    """Say whether rules or claims name a team already: of an ended job at its end, else at ``now``."""
    resolver = Resolver(now, places)
    if subject.kind == "instance":
        return resolver.owned(subject.id, None, now).team_id is not None
    ended = Job.objects.values_list("ended_at", flat=True).get(pk=subject.id)
    at = min(ended or now, now)
    return any(resolver.owned(place, subject.id, at).team_id is not None for place in places)


def _moved(row: Claim, places: Collection[int], *, since: datetime, now: datetime) -> None:
    """Mark the hours that move, and tell the team of now of the things."""
    began = row.job.started_at if row.job else BEGINNING
    mark_from(dict.fromkeys(places, max(since, began)))
    refresh_teams(now=now, instance_ids=places)
    jobs = (
        {row.job_id}
        if row.job_id
        else set(GpuUse.objects.filter(end=None, gpu__instance__in=places).values_list("job_id", flat=True))
    )
    refresh_job_teams(now=now, job_ids=jobs)
