"""Claims as the resolver asks for them: whose a thing is where no rule says so."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from fleet.models import Claim


@dataclass(frozen=True)
class Span:
    """A claim for a team in [start, end); ``end`` None: it goes on."""

    start: datetime
    end: datetime | None
    team_id: int


class Claims:
    """The claims that begin up to ``until``: of these instances (None: all), and of jobs."""

    def __init__(self, until: datetime, instance_ids: Collection[int] | None = None) -> None:
        self._of_instance: defaultdict[int, list[Span]] = defaultdict(list)
        self._of_job: defaultdict[int, list[Span]] = defaultdict(list)
        rows: Iterable[tuple[int | None, int | None, datetime, datetime | None, int]] = Claim.objects.filter(
            valid_from__lte=until
        ).values_list("instance_id", "job_id", "valid_from", "valid_to", "team_id")
        for instance, job, start, end, team in rows:
            if job is not None:
                self._of_job[job].append(Span(start, end, team))
            elif instance is not None and (instance_ids is None or instance in instance_ids):
                self._of_instance[instance].append(Span(start, end, team))
        self._jobs_on = _jobs_on(list(self._of_job)) if self._of_job else {}

    def team_at(self, instance_id: int, job_id: int | None, at: datetime) -> int | None:
        """Give the team that claimed the job, else the one that claimed the instance; None: nobody did."""
        spans = (
            [*self._of_job.get(job_id, ()), *self._of_instance.get(instance_id, ())]
            if job_id is not None
            else (self._of_instance.get(instance_id, ()))
        )
        return next((one.team_id for one in spans if one.start <= at and (one.end is None or at < one.end)), None)

    def cuts(self, instance_id: int) -> list[datetime]:
        """Give the moments at which a claim of the instance, or of a job that stood on it, begins or ends."""
        spans = list(self._of_instance.get(instance_id, ()))
        for job in self._jobs_on.get(instance_id, ()):
            spans += self._of_job[job]
        return [at for one in spans for at in (one.start, one.end) if at is not None]


def instances_of_job(job_id: int) -> list[int]:
    """Give the instances on whose GPUs a job ran."""
    return list(_jobs_on([job_id]))


def _jobs_on(job_ids: Collection[int]) -> dict[int, list[int]]:
    """Give instance -> the jobs of these that used a GPU of it, then or now."""
    found: defaultdict[int, list[int]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT p.instance_id, u.job_id FROM fleet_gpuuse u JOIN fleet_gpuplacement p USING (gpu_id)"
            " WHERE u.job_id = ANY(%s) AND p.instance_id IS NOT NULL"
            ' AND (u."end" IS NULL OR p.start < u."end") AND (p."end" IS NULL OR u.start < p."end")',
            [list(job_ids)],
        )
        for instance, job in cursor.fetchall():
            found[instance].append(job)
    return dict(found)
