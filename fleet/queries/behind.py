"""What stands behind the verdict on one instance beside its samples: policy, exemptions, jobs. One question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from fleet.domain.idle_rule import IdleRule
from fleet.domain.ownership import NAMESPACE_RULE, team_name
from fleet.models import Exemption, Policy
from fleet.queries.ownership import JobFacts, facts_of
from fleet.queries.policies import IDLE_DEFAULTS, PolicyBook, PolicyRows
from fleet.queries.policy_record import exemption_documents, policy_document, references
from fleet.queries.record import Record
from people.queries import TeamName, lineage


@dataclass(frozen=True)
class JobNow:
    """A job that holds GPUs of the instance now. ``gpus``: how many of them; ``state`` None: not judged yet."""

    name: str
    kind: str
    owner: str
    team_id: int | None
    started_at: datetime
    gpus: int
    state: str | None


@dataclass(frozen=True)
class Behind:
    """``policy`` and ``exemptions`` as `explain` prints them. ``started``: the newest start by the provider's word.

    ``matched``: place (from 0) and text of the ownership rule that gives the instance its team, None: none does.
    ``watched``: whether a source of sessions or kernels is connected, whose word could be a veto.
    """

    policy: Mapping[str, Any]
    rule: IdleRule
    exemptions: list[dict[str, Any]]
    jobs: list[JobNow]
    started: datetime | None
    watched: bool
    matched: tuple[int, Mapping[str, Any]] | None


def behind(record: Record, teams: Mapping[int, TeamName], at: datetime) -> Behind:
    """Read what stands behind the verdict at ``at``; ``teams``: all of them, since policies look at parents too."""
    names = references(record.account, record.external_id)
    values: dict[str, Any] = {"at": at, "instance": record.id, "names": names, "gpus": [gpu.id for gpu in record.gpus]}
    with connection.cursor() as cursor:
        cursor.execute(_QUESTION, values)
        ((policies, declared, exemptions, ownership, jobs, started, watched),) = cursor.fetchall()
    exempt = [Exemption(**_timed(row, "until")) for row in _json(exemptions)]
    organization: Mapping[str, Any] = _json(declared, {})
    rows = PolicyRows(
        policies=[Policy(**row) for row in _json(policies)],
        exemptions=exempt,
        organization={**IDLE_DEFAULTS, **organization},
        teams={pk: frozenset(name.casefold() for name in lineage(pk, teams)) for pk in teams},
    )
    policy = PolicyBook(at, rows).policy_of(record.external_id, record.account, record.team_id, record.attributes)
    rules = [NAMESPACE_RULE] if ownership is None else _json(ownership)
    told = [one for one in (started, record.launched_at, record.last_started_at) if one is not None and one <= at]
    return Behind(
        policy=policy_document(policy, organization),
        rule=IdleRule.from_spec(policy.idle),
        exemptions=exemption_documents(exempt, policy, at),
        jobs=[_job(row, record, rules, teams) for row in _json(jobs)],
        started=max(told, default=None),
        watched=watched,
        matched=_matched(record, rules, teams),
    )


def _matched(record: Record, rules: list[Any], teams: Mapping[int, TeamName]) -> tuple[int, Mapping[str, Any]] | None:
    """Find the rule that gives the instance its team of now; None: a person claimed it, or nobody has it."""
    facts = facts_of(record.attributes or {"host": record.host}, record.account or "", None)
    match = team_name(rules, facts, {team.name.casefold() for team in teams.values()})
    team = teams.get(record.team_id or 0)
    is_same = match is not None and team is not None and match.team.casefold() == team.name.casefold()
    return (match.position, rules[match.position]) if match and is_same else None


def _job(row: Mapping[str, Any], record: Record, rules: list[Any], teams: Mapping[int, TeamName]) -> JobNow:
    ids = {team.name.casefold(): team.id for team in teams.values()}
    facts = facts_of(
        record.attributes or {"host": record.host}, record.account or "", JobFacts(row["owner"], row["labels"])
    )
    match = team_name(rules, facts, ids)
    return JobNow(
        name=row["name"],
        kind=row["kind"],
        owner=facts.job_owner,
        team_id=ids.get(match.team.casefold()) if match else row["team_id"],  # claimed, where no rule speaks
        started_at=datetime.fromisoformat(row["started_at"]),
        gpus=row["gpus"],
        state=row["state"],
    )


def _json(text: str | None, otherwise: Any = ()) -> Any:
    return otherwise if text is None else orjson.loads(text)


def _timed(row: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {**row, key: datetime.fromisoformat(row[key]) if row[key] else None}


_QUESTION = """
    SELECT
      (SELECT jsonb_agg(to_jsonb(p) ORDER BY p.position) FROM fleet_policy p)::text,
      (SELECT spec FROM fleet_idleruleversion WHERE valid_from <= %(at)s ORDER BY valid_from DESC LIMIT 1)::text,
      (SELECT jsonb_agg(to_jsonb(e) ORDER BY e.id) FROM fleet_exemption e WHERE e.instance_ref = ANY(%(names)s))::text,
      CASE WHEN EXISTS (SELECT 1 FROM fleet_ownershiprule) THEN coalesce((
          SELECT jsonb_agg(r.spec ORDER BY r.position) FROM fleet_ownershiprule r
          WHERE r.valid_from = (SELECT max(valid_from) FROM fleet_ownershiprule WHERE valid_from <= %(at)s)
      ), '[]')::text END,
      (SELECT jsonb_agg(to_jsonb(held) ORDER BY held.started_at, held.name) FROM (
          SELECT j.external_id AS name, j.kind, j.owner, j.labels, j.started_at, j.team_id,
                 count(DISTINCT u.gpu_id) AS gpus,
                 (SELECT v.state FROM fleet_verdict v WHERE v.subject_kind = 'job' AND v.subject_id = j.id
                  AND v."end" IS NULL) AS state
          FROM fleet_gpuuse u JOIN fleet_job j ON j.id = u.job_id
          WHERE u.gpu_id = ANY(%(gpus)s) AND u.start <= %(at)s AND (u."end" IS NULL OR u."end" > %(at)s)
            AND (j.ended_at IS NULL OR j.ended_at > %(at)s)
          GROUP BY j.id
      ) held)::text,
      (SELECT max(start) FROM fleet_instancestate WHERE instance_id = %(instance)s AND state = 'running'
       AND start <= %(at)s AND start > 'epoch'),
      EXISTS (SELECT 1 FROM fleet_source WHERE kind = 'activity' AND is_enabled)
"""
