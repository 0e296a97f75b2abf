"""How fresh what we say is: per source and per job."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection
from django.db.models import OuterRef, Subquery

from fleet.models import JobRun, Source, SourcePull
from fleet.queries.ownership import Resolver

LATE_AFTER = timedelta(minutes=15)
PULL_FIELDS = ("error_code", "error_message", "error_hint", "gpus", "coverage_pct")


@dataclass(frozen=True)
class SourceHealth:
    """A telemetry source and how its last pull went. ``age`` is None before the first complete answer."""

    name: str
    collected_until: datetime | None
    age: timedelta | None
    error_code: str
    error_message: str
    error_hint: str
    gpus: int | None
    coverage_pct: float | None

    @property
    def is_failing(self) -> bool:
        """Whether the last pull went wrong."""
        return bool(self.error_code)

    @property
    def is_late(self) -> bool:
        """Whether its newest complete answer is too old to rely on."""
        return self.age is not None and self.age > LATE_AFTER


def sources_health(now: datetime) -> list[SourceHealth]:
    """Give every enabled metric source by name, with its last pull."""
    last = SourcePull.objects.filter(source=OuterRef("pk")).order_by("-at")
    pull = {f"pull_{name}": Subquery(last.values(name)[:1]) for name in PULL_FIELDS}
    rows = Source.objects.filter(is_enabled=True).exclude(kind="activity").order_by("name").annotate(**pull)
    return [
        SourceHealth(name, until, now - until if until else None, code or "", message or "", hint or "", gpus, coverage)
        for name, until, code, message, hint, gpus, coverage in rows.values_list("name", "collected_until", *pull)
    ]


@dataclass(frozen=True)
class JobHealth:
    """The last run of a job and shard. ``ok_at``: the `now` of the last one that went well."""

    name: str
    shard: str
    ok_at: datetime | None
    failures: int


def jobs_health() -> list[JobHealth]:
    """Give the last run of every job and shard."""
    rows = JobRun.objects.order_by("name", "shard").values_list("name", "shard", "ok_at", "failures")
    return [JobHealth(*row) for row in rows]


def gpus_by_team_and_state(at: datetime) -> dict[tuple[int | None, str], int]:
    """Count devices by current verdict and by the team of the job that uses them now, else of their instance.

    A device that several jobs share counts for its instance's team.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH used AS (
                SELECT u.gpu_id, min(u.job_id) AS job_id FROM fleet_gpuuse u JOIN fleet_job j ON j.id = u.job_id
                WHERE u."end" IS NULL AND j.ended_at IS NULL GROUP BY u.gpu_id HAVING count(DISTINCT u.job_id) = 1
            )
            SELECT i.id, i.team_id, used.job_id, v.state, count(*)
            FROM fleet_verdict v JOIN fleet_gpu g ON g.id = v.subject_id
            LEFT JOIN fleet_instance i ON i.id = g.instance_id LEFT JOIN used ON used.gpu_id = g.id
            WHERE v.subject_kind = 'gpu' AND v."end" IS NULL GROUP BY i.id, i.team_id, used.job_id, v.state
            """
        )
        rows = cursor.fetchall()
    users = {(instance, job) for instance, _team, job, _state, _count in rows if instance and job}
    resolver = Resolver(at, {instance for instance, _job in users})
    resolver.load_jobs({job for _instance, job in users})
    counts: Counter[tuple[int | None, str]] = Counter()
    for instance, team, job, state, count in rows:
        owner = resolver.owned(instance, job, at).team_id if instance and job else team
        counts[owner, state] += count
    return dict(counts)
