"""What happened on a machine in a span: its verdicts, and the jobs that ran on it as far as they may be seen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from common.periods import Period
from fleet.queries.jobs import OWNER, job_path
from people.roles import TeamChoice

MOST_JOBS = 60


@dataclass(frozen=True)
class RanOn:
    """A job on a machine. ``end`` None: it still runs there. ``gpus``: how many of the machine's GPUs it held."""

    name: str
    owner: str
    team_id: int | None
    path: str
    start: datetime
    end: datetime | None
    gpus: int


@dataclass(frozen=True)
class Happened:
    """``verdicts``: (state, start, end), oldest first. ``jobs``: the newest `MOST_JOBS`; ``more``: how many are not."""

    verdicts: list[tuple[str, datetime, datetime | None]]
    jobs: list[RanOn]
    more: int


def happened_on(instance_id: int, period: Period, choice: TeamChoice) -> Happened:
    """Read both in one question; of a job that may not be seen not even the number is told (rule 9)."""
    seen, teams = choice.condition("j.team_id")
    values: list[Any] = [instance_id, period.end, period.start, instance_id, period.end, period.start]
    with connection.cursor() as cursor:
        cursor.execute(_QUESTION.format(seen=seen, owner=OWNER), [*values, *teams, MOST_JOBS])
        rows = cursor.fetchall()
    verdicts = [(row[1], row[2], row[3]) for row in rows if row[0] == "verdict"]
    jobs = [
        RanOn(name, owner, team_id, job_path(source, name, started if ended else None), start, end, gpus)
        for kind, name, start, end, owner, team_id, source, started, ended, gpus, _n in rows
        if kind == "job"
    ]
    total = next((row[10] for row in rows if row[0] == "job"), 0)
    return Happened(sorted(verdicts, key=lambda one: one[1]), jobs, total - len(jobs))


_QUESTION = """
    (SELECT 'verdict', v.state, v.start, v."end", NULL, NULL::bigint, NULL, NULL::timestamptz, NULL::timestamptz,
            NULL::bigint, NULL::bigint
     FROM fleet_verdict v WHERE v.subject_kind = 'instance' AND v.subject_id = %s AND v.start < %s
       AND (v."end" IS NULL OR v."end" > %s))
    UNION ALL
    (SELECT 'job', j.external_id, x.start, x."end", {owner}, j.team_id, s.name, j.started_at, j.ended_at, x.gpus,
            count(*) OVER ()
     FROM (
        SELECT u.job_id, min(greatest(u.start, p.start)) AS start, count(DISTINCT u.gpu_id) AS gpus,
               CASE WHEN bool_or(u."end" IS NULL AND p."end" IS NULL) THEN NULL
                    ELSE max(least(u."end", p."end")) END AS "end"
        FROM fleet_gpuplacement p JOIN fleet_gpuuse u ON u.gpu_id = p.gpu_id
            AND (p."end" IS NULL OR u.start < p."end") AND (u."end" IS NULL OR p.start < u."end")
        WHERE p.instance_id = %s AND u.start < %s AND (u."end" IS NULL OR u."end" > %s) GROUP BY 1
     ) x JOIN fleet_job j ON j.id = x.job_id LEFT JOIN fleet_source s ON s.id = j.source_id
     WHERE {seen} ORDER BY x.start DESC LIMIT %s)
"""
