"""Jobs as they stand: those on some instances now, and the list of all jobs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from common.pages import Page, Slice
from common.periods import iso
from fleet.domain.states import IDLE
from fleet.queries.filters import Conditions, iso_sql
from people.roles import TeamChoice

_IDLE = """LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'job' AND f.subject_id = j.id
                AND f.closed_at IS NULL"""
_LOW = """LEFT JOIN fleet_finding low ON low.kind = 'low_utilization' AND low.subject_kind = 'job'
                AND low.subject_id = j.id AND low.closed_at IS NULL"""
_JUDGED = """LEFT JOIN fleet_verdict v ON v.subject_kind = 'job' AND v.subject_id = j.id AND v."end" IS NULL"""
_COLUMNS = f"""j.id, j.external_id, coalesce(nullif(j.owner, ''), j.labels ->> 'owner'), j.team_id, v.state,
              {iso_sql("v.since")}, (coalesce(v.evidence, '{{}}') || coalesce(f.evidence, '{{}}'))::text"""

Figures = Callable[[Sequence[int]], Mapping[int, dict[str, Any]]]


@dataclass(frozen=True)
class JobHold:
    """A job that holds GPUs now. ``gpu_ids``: those of one instance; ``gpus``: how many devices it holds in all.

    ``since`` is written as documents have it.
    """

    gpu_ids: frozenset[int]
    job_id: int
    name: str
    owner: str | None
    team_id: int | None
    state: str | None
    since: str | None
    evidence: Mapping[str, Any]
    gpus: int

    def document(self, teams: Mapping[int, str]) -> dict[str, Any]:
        """Give the job as `judge` prints it."""
        is_idle = self.state in IDLE
        return {
            "id": self.name,
            "owner": self.owner or None,
            "team": teams.get(self.team_id) if self.team_id is not None else None,
            "state": self.state,
            "since": self.since if is_idle else None,
            "minutes": self.evidence.get("minutes") if is_idle else None,
            "peak_pct": self.evidence.get("peak_pct"),
            "mean_pct": self.evidence.get("mean_pct"),
            "gpus": self.gpus,
        }


def holds_on(instance_ids: Collection[int], choice: TeamChoice, at: datetime) -> dict[int, list[JobHold]]:
    """Give the visible jobs that hold GPUs of each instance now; a job of a team that may not be seen is left out."""
    condition, values = choice.condition("j.team_id")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT held.instance_id, held.gpus, {_COLUMNS},
                       (SELECT count(DISTINCT o.gpu_id) FROM fleet_gpuuse o WHERE o.job_id = j.id AND o."end" IS NULL)
                FROM (SELECT g.instance_id, u.job_id, array_agg(u.gpu_id) AS gpus
                      FROM fleet_gpu g JOIN fleet_gpuuse u ON u.gpu_id = g.id AND u."end" IS NULL
                      WHERE g.instance_id = ANY(%s) GROUP BY 1, 2) held
                JOIN fleet_job j ON j.id = held.job_id AND (j.ended_at IS NULL OR j.ended_at > %s)
                {_JUDGED} {_IDLE} WHERE {condition} ORDER BY held.instance_id, j.id""",
            [list(instance_ids), at, *values],
        )
        found: defaultdict[int, list[JobHold]] = defaultdict(list)
        for instance_id, held, job_id, name, owner, team_id, state, since, evidence, gpus in cursor.fetchall():
            found[instance_id].append(
                JobHold(frozenset(held), job_id, name, owner, team_id, state, since, orjson.loads(evidence), gpus)
            )
    return dict(found)


def jobs_page(
    asked: Mapping[str, Any], part: Slice, choice: TeamChoice, teams: Mapping[int, str], *, more: Figures
) -> Page:
    """Give a page of jobs, newest first.

    ``asked``: running, kind, owner, state, job, source, advice, since and until (of their start), ran_since (what runs
    or ended after it). ``more``: gives further fields by row id.
    """
    where = Conditions(choice, "j.team_id")
    where.flag(asked, "running", "j.ended_at IS NULL")
    where.equal("j.kind", asked.get("kind"))
    where.equal("coalesce(nullif(j.owner, ''), j.labels ->> 'owner')", asked.get("owner"))
    where.equal("v.state", asked.get("state"))
    where.equal("j.external_id", asked.get("job"))
    where.compare("j.started_at >= %s", asked.get("since"))
    where.compare("j.started_at < %s", asked.get("until"))
    where.equal("s.name", asked.get("source"))
    where.flag(asked, "advice", "low.id IS NOT NULL")
    where.compare("(j.ended_at IS NULL OR j.ended_at > %s)", asked.get("ran_since"))
    where.compare("j.id < %s", part.after)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT {_COLUMNS}, s.name, j.kind, j.started_at, j.ended_at, low.evidence::text,
                       (SELECT count(DISTINCT o.gpu_id) FROM fleet_gpuuse o
                        WHERE o.job_id = j.id AND (j.ended_at IS NOT NULL OR o."end" IS NULL))
                FROM fleet_job j LEFT JOIN fleet_source s ON s.id = j.source_id {_JUDGED} {_IDLE} {_LOW}
                WHERE {where.sql} ORDER BY j.id DESC LIMIT %s""",
            [*where.values, part.limit + 1],
        )
        rows = cursor.fetchall()
    figures = more([row[0] for row in rows[: part.limit]])
    documents = []
    for *columns, source, kind, started_at, ended_at, low, gpus in rows:
        job_id, name, owner, team_id, state, since, evidence = columns
        hold = JobHold(frozenset(), job_id, name, owner, team_id, state, since, orjson.loads(evidence), gpus)
        life = {
            "source": source, "kind": kind, "started_at": iso(started_at),
            "ended_at": iso(ended_at) if ended_at else None,
            "advice": orjson.loads(low) if low else None,
        }  # fmt: skip
        documents.append((job_id, {**hold.document(teams), **life, **figures.get(job_id, {})}))
    return part.page(documents)
