"""Jobs as one relation: for their list, its totals, and the page of one job. Of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote, urlencode

import orjson
from django.db import connection

from common.periods import iso
from fleet.domain.job_filter import JobFilter
from fleet.queries.standing import instance_path
from people.roles import TeamChoice

OWNER = "coalesce(nullif(j.owner, ''), j.labels ->> 'owner', '')"
_JOBS = """
    SELECT j.id, j.external_id, j.kind, {owner} AS owner, j.team_id, j.started_at, j.ended_at, v.state, v.reason,
           v.since, (v.evidence ->> 'mean_pct')::float8 AS mean_pct, f.evidence AS advice, s.name AS source
    FROM fleet_job j LEFT JOIN fleet_source s ON s.id = j.source_id
    LEFT JOIN fleet_verdict v ON v.subject_kind = 'job' AND v.subject_id = j.id AND v."end" IS NULL
    LEFT JOIN fleet_finding f ON f.kind = 'low_utilization' AND f.subject_kind = 'job' AND f.subject_id = j.id
        AND f.closed_at IS NULL
    WHERE {where}
"""
# Where and on what a job ran: its uses, with the machine in which the GPU stood meanwhile.
PLACES = """
    SELECT u.job_id, u.gpu_id, p.instance_id FROM fleet_gpuuse u
    JOIN fleet_job j ON j.id = u.job_id AND (j.ended_at IS NOT NULL OR u."end" IS NULL)
    LEFT JOIN fleet_gpuplacement p ON p.gpu_id = u.gpu_id AND (u."end" IS NULL OR p.start < u."end")
        AND (p."end" IS NULL OR u.start < p."end")
    WHERE {where}
"""


def jobs_sql(choice: TeamChoice, asked: JobFilter) -> tuple[str, list[Any]]:
    """Give the SELECT of the visible jobs that ``asked`` leaves, with its parameters."""
    seen, values = choice.condition("j.team_id")
    parts = [seen]
    if asked.since is None:
        parts.append("j.ended_at IS NULL")
    else:
        parts.append("(j.ended_at IS NULL OR j.ended_at > %s)")
        values.append(asked.since)
    for value, condition in (
        (asked.until, "j.started_at < %s"),
        (asked.state, "v.state = %s"),
        (asked.kind, "j.kind = %s"),
        (None if asked.owners is None else [one.lower() for one in asked.owners], f"lower({OWNER}) = ANY(%s)"),
    ):
        if value is not None and value != "":
            parts.append(condition)
            values.append(value)
    if asked.has_advice:
        parts.append("f.id IS NOT NULL")
    for word in asked.words:
        parts.append(f"position(lower(%s) in lower(concat_ws(' ', j.external_id, {OWNER}))) > 0")
        values.append(word)
    return _JOBS.format(owner=OWNER, where=" AND ".join(parts)), values


@dataclass(frozen=True)
class JobPlace:
    """A machine on which a job ran: which GPUs it held there, from when until when (None: it still does)."""

    instance_id: int | None
    account: str | None
    external_id: str
    team_id: int | None
    gpu_ids: Sequence[int]
    start: datetime
    end: datetime | None

    @property
    def path(self) -> str:
        """The address of the machine's record."""
        return instance_path(self.account, self.external_id) if self.external_id else ""


@dataclass(frozen=True)
class JobRecord:
    """A job with all that is known of it. ``history``: its verdicts, (state, start, end), oldest first."""

    id: int
    external_id: str
    kind: str
    owner: str
    team_id: int | None
    started_at: datetime
    ended_at: datetime | None
    state: str | None
    reason: str
    since: datetime | None
    evidence: Mapping[str, Any]
    advice: Mapping[str, Any] | None
    source: str
    labels: Mapping[str, str]
    places: Sequence[JobPlace]
    history: Sequence[tuple[str, datetime, datetime | None]]
    findings: Sequence[Mapping[str, Any]]


def job_path(source: str | None, external_id: str, started_at: datetime | None = None) -> str:
    """Give the address of a job's page; with ``started_at`` that of this run, else of the newest with this id."""
    path = f"/jobs/{quote(source or '-', safe='')}/{quote(external_id, safe='/:')}/"
    return path if started_at is None else f"{path}?{urlencode({'started': iso(started_at)})}"


def job_record(
    source: str, external_id: str, choice: TeamChoice, started_at: datetime | None = None
) -> JobRecord | None:
    """Give a job in one question, the newest run of its id up to ``started_at``; ``source`` "-": without one.

    None when there is none, and also when it may not be seen.
    """
    seen, values = choice.condition("j.team_id")
    of_source = "j.source_id IS NULL" if source == "-" else "s.name = %s"
    names = [] if source == "-" else [source]
    with connection.cursor() as cursor:
        cursor.execute(
            _RECORD.format(owner=OWNER, seen=seen, source=of_source),
            [external_id, *names, started_at, started_at, *values],
        )
        row = cursor.fetchone()
    if row is None:
        return None
    facts: Sequence[Any] = row[:10]
    evidence, advice, source, labels, places, history, findings = row[10:]
    pk, external_id, kind, owner, team_id, started_at, ended_at, state, reason, since = facts
    return JobRecord(
        id=pk,
        external_id=external_id,
        kind=kind,
        owner=owner,
        team_id=team_id,
        started_at=started_at,
        ended_at=ended_at,
        state=state,
        reason=reason,
        since=since,
        evidence=_json(evidence, {}),
        advice=_json(advice, None),
        source=source or "",
        labels=_json(labels, {}),
        places=[_place(one) for one in _json(places, [])],
        history=[(one["state"], _time(one["start"]), _moment(one["end"])) for one in _json(history, [])],
        findings=_json(findings, []),
    )


def _json(text: str | None, otherwise: Any) -> Any:
    return otherwise if text is None else orjson.loads(text)


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _place(one: Mapping[str, Any]) -> JobPlace:
    return JobPlace(
        one["instance_id"], one["account"], one["external_id"] or "", one["team_id"], one["gpu_ids"],
        _time(one["start"]), None if one["goes_on"] else _moment(one["end"]),
    )  # fmt: skip


_RECORD = """
    SELECT j.id, j.external_id, j.kind, {owner}, j.team_id, j.started_at, j.ended_at, v.state, coalesce(v.reason, ''),
           v.since, (coalesce(v.evidence, '{{}}') || coalesce(f.evidence, '{{}}'))::text, low.evidence::text, s.name,
           j.labels::text, places.found::text, history.found::text, seen.found::text
    FROM fleet_job j LEFT JOIN fleet_source s ON s.id = j.source_id
    LEFT JOIN LATERAL (SELECT * FROM fleet_verdict v WHERE v.subject_kind = 'job' AND v.subject_id = j.id
                       ORDER BY v.start DESC LIMIT 1) v ON TRUE
    LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'job' AND f.subject_id = j.id
        AND f.closed_at IS NULL
    LEFT JOIN fleet_finding low ON low.kind = 'low_utilization' AND low.subject_kind = 'job' AND low.subject_id = j.id
        AND low.closed_at IS NULL
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(to_jsonb(x) ORDER BY x.start, x.external_id) AS found FROM (
            SELECT p.instance_id, a.name AS account, i.external_id, i.team_id, array_agg(DISTINCT u.gpu_id) AS gpu_ids,
                   min(u.start) AS start, max(u."end") AS "end", bool_or(u."end" IS NULL) AS goes_on
            FROM fleet_gpuuse u
            LEFT JOIN fleet_gpuplacement p ON p.gpu_id = u.gpu_id AND (u."end" IS NULL OR p.start < u."end")
                AND (p."end" IS NULL OR u.start < p."end")
            LEFT JOIN fleet_instance i ON i.id = p.instance_id LEFT JOIN fleet_account a ON a.id = i.account_id
            WHERE u.job_id = j.id GROUP BY 1, 2, 3, 4) x
    ) places ON TRUE
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('state', h.state, 'start', h.start, 'end', h."end")
                         ORDER BY h.start) AS found
        FROM fleet_verdict h WHERE h.subject_kind = 'job' AND h.subject_id = j.id
    ) history ON TRUE
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(jsonb_build_object('kind', d.kind, 'opened_at', d.opened_at, 'closed_at', d.closed_at)
                         ORDER BY d.opened_at DESC) AS found
        FROM fleet_finding d WHERE d.subject_kind = 'job' AND d.subject_id = j.id
    ) seen ON TRUE
    WHERE j.external_id = %s AND {source} AND (%s::timestamptz IS NULL
        OR j.started_at < %s::timestamptz + interval '1 second') AND {seen}
    ORDER BY j.started_at DESC, j.id DESC LIMIT 1
"""
