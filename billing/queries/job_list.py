"""The table of jobs: found, sorted, cut and totalled in the database, with what each used and cost over its life."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

import orjson

from billing.domain.month_spend import HOUR_MS, TIME_STATES
from billing.domain.spend import hours
from billing.queries.list_sql import CHUNK, Cut, money_by_currency, named, read
from common.money import plain
from fleet.domain.job_filter import JobFilter
from fleet.queries.jobs import PLACES, job_path, jobs_sql
from people.roles import TeamChoice

ALL_MS = " + ".join(f"t.{state}_ms" for state in TIME_STATES)
SORTS = {
    "name": "lower(m.external_id)",
    "team": "lower(p.name)",
    "state": "array_position(ARRAY['working', 'held', 'empty', 'unknown', 'stopped', 'warm_up'], m.state)",
    "started": "m.started_at",
    "ran_for": "coalesce(m.ended_at, %(now)s) - m.started_at",
    "gpu_hours": "t.ms",
    "mean": "m.mean_pct",
    "cost": "t.currency {way} NULLS LAST, t.cost",
    "nodes": "w.nodes",
    "gpus": "w.gpus",
    "advice": "m.advice IS NULL",
}


FACTS = (
    "id", "external_id", "kind", "owner", "team_id", "started_at", "ended_at", "state", "mean_pct", "advice",
    "source",
)  # fmt: skip


@dataclass(frozen=True)
class JobCost:
    """A job. ``hours``: GPU-hours by state; ``cost`` by currency, both over its life as far as it is metered.

    ``state`` None: it ended, or nobody has judged it. ``advice``: evidence of an open finding of low utilisation.
    """

    id: int
    external_id: str
    kind: str
    owner: str
    team_id: int | None
    started_at: datetime
    ended_at: datetime | None
    state: str | None
    mean_pct: float | None
    advice: Mapping[str, Any] | None
    source: str | None
    nodes: int = 0
    gpus: int = 0
    hours: Mapping[str, float] = field(default_factory=dict)
    cost: Mapping[str, Decimal] = field(default_factory=dict)
    is_unpriced: bool = False

    @property
    def path(self) -> str:
        """The address of its page."""
        return job_path(self.source, self.external_id, self.started_at if self.ended_at else None)


@dataclass(frozen=True)
class JobTotals:
    """Of all jobs that a filter leaves."""

    count: int
    running: int
    gpu_hours: float
    hours: Mapping[str, float]
    cost: Mapping[str, Decimal]
    unpriced: int


class JobList:
    """The jobs that ``asked`` leaves, as ``choice`` may see them, at ``now``."""

    def __init__(self, choice: TeamChoice, asked: JobFilter, now: datetime) -> None:
        self._values: dict[str, Any] = {"now": now}
        self._jobs = named(*jobs_sql(choice, asked), "m", self._values)
        self._of_team = named(*choice.condition("t.team_id"), "t", self._values)

    def rows(self, cut: Cut) -> list[JobCost]:
        """Give some of the jobs, sorted."""
        return self._with_figures(self._found(cut))

    def all_rows(self, cut: Cut) -> Iterator[JobCost]:
        """Give all jobs, sorted; what they used is read piece by piece."""
        found = self._found(Cut(cut.sort, cut.descending))
        for start in range(0, len(found), CHUNK):
            yield from self._with_figures(found[start : start + CHUNK])

    def _found(self, cut: Cut) -> list[tuple[Any, ...]]:
        parts, joins = [f"job AS MATERIALIZED ({self._jobs})"], ""
        if cut.sort in ("gpu_hours", "cost"):
            parts.append(f"total AS ({self._totals_of('t.job_id IN (SELECT id FROM job)')})")
            joins = (
                "LEFT JOIN (SELECT DISTINCT ON (job_id) *, sum(ms_one) OVER (PARTITION BY job_id) AS ms FROM total"
                " ORDER BY job_id, cost DESC) t ON t.job_id = m.id"
            )
        if cut.sort in ("nodes", "gpus"):
            parts.append(f"width AS ({_width('u.job_id IN (SELECT id FROM job)')})")
            joins = "LEFT JOIN width w ON w.job_id = m.id"
        query = f"""WITH {", ".join(parts)}
            SELECT m.id, m.external_id, m.kind, m.owner, m.team_id, m.started_at, m.ended_at, m.state, m.mean_pct,
                   m.advice::text, m.source
            FROM job m LEFT JOIN people_team p ON p.id = m.team_id {joins}
            ORDER BY {cut.order(SORTS)} m.id DESC {cut.page}"""
        return read(query, self._values)

    def _with_figures(self, found: Sequence[tuple[Any, ...]]) -> list[JobCost]:
        figures = self._figures([row[0] for row in found])
        jobs = []
        for row in found:
            facts = dict(zip(FACTS, row, strict=True))
            facts["advice"] = orjson.loads(facts["advice"]) if facts["advice"] else None
            jobs.append(JobCost(**facts, **figures.get(row[0], {})))
        return jobs

    def totals(self) -> JobTotals:
        """Count and sum all of them, in one question."""
        sums = ", ".join(f"coalesce(sum({state}), 0)::bigint" for state in TIME_STATES)
        query = f"""WITH job AS MATERIALIZED ({self._jobs}),
                total AS MATERIALIZED ({self._totals_of("t.job_id IN (SELECT id FROM job)")})
            SELECT (SELECT count(*) FROM job), (SELECT count(*) FROM job WHERE ended_at IS NULL),
                   (SELECT count(DISTINCT job_id) FROM total WHERE unpriced_ms > 0),
                   (SELECT jsonb_object_agg(currency, x.cost::text) FROM (
                        SELECT currency, sum(cost) AS cost FROM total WHERE cost > 0 OR unpriced_ms = 0 GROUP BY 1) x),
                   {sums} FROM total"""
        ((count, running, unpriced, cost, *ms),) = read(query, self._values)
        hours = _hours(ms)
        return JobTotals(count, running, sum(hours.values()), hours, money_by_currency(cost), unpriced)

    def _figures(self, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        if not ids:
            return {}
        self._values["ids"] = list(ids)
        sums = ", ".join(f"coalesce(sum(t.{state}), 0)::bigint" for state in TIME_STATES)
        query = f"""WITH total AS ({self._totals_of("t.job_id = ANY(%(ids)s)")}), width AS ({_width(_PAGE)})
            SELECT i.id, coalesce(max(w.nodes), 0), coalesce(max(w.gpus), 0),
                   jsonb_object_agg(t.currency, t.cost::text) FILTER (WHERE t.cost > 0 OR t.unpriced_ms = 0),
                   coalesce(bool_or(t.unpriced_ms > 0), FALSE), {sums}
            FROM unnest(%(ids)s::bigint[]) i(id) LEFT JOIN total t ON t.job_id = i.id
            LEFT JOIN width w ON w.job_id = i.id GROUP BY i.id"""
        return {
            pk: {
                "nodes": nodes,
                "gpus": gpus,
                "cost": money_by_currency(cost),
                "is_unpriced": bare,
                "hours": _hours(ms),
            }
            for pk, nodes, gpus, cost, bare, *ms in read(query, self._values)
        }

    def documents(self, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Give what these jobs used and cost over their lives as the API writes it."""
        return {
            pk: {
                "machines": one["nodes"],
                "gpu_hours": {state: hours(round(value * HOUR_MS)) for state, value in one["hours"].items()},
                "cost": {currency: plain(amount) for currency, amount in one["cost"].items()},
                "has_unpriced": one["is_unpriced"],
            }
            for pk, one in self._figures(ids).items()
        }

    def _totals_of(self, only: str) -> str:
        sums = ", ".join(f"sum(t.{state}_ms) AS {state}" for state in TIME_STATES)
        return f"""SELECT t.job_id, t.currency, sum(t.cost) AS cost, sum(t.unpriced_ms) AS unpriced_ms, {sums},
                   sum({ALL_MS}) AS ms_one
            FROM billing_jobtotal t WHERE {only} AND {self._of_team} GROUP BY 1, 2"""


_PAGE = "u.job_id = ANY(%(ids)s)"


def _width(only: str) -> str:
    """How many machines and GPUs a job holds, or held."""
    return f"""SELECT job_id, count(DISTINCT instance_id) AS nodes, count(DISTINCT gpu_id) AS gpus
        FROM ({PLACES.format(where=only)}) x GROUP BY job_id"""


def _hours(ms: Sequence[int]) -> dict[str, float]:
    return {state: value / HOUR_MS for state, value in zip(TIME_STATES, ms, strict=True)}
