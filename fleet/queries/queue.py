"""What stands in the idle queue: instances that are idle, that are quiet and wait, and that can't be seen.

Lean rows of all of them, for order and totals; what a verdict rests on is read only for those that are shown.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from fleet.queries.exempt_now import ExemptNow
from fleet.queries.filters import Conditions
from fleet.queries.standing import instance_path
from people.roles import TeamChoice


@dataclass(frozen=True)
class QueueAsked:
    """Which machines: of these teams; of one account, GPU model, owner (e-mail), where these are given."""

    teams: TeamChoice
    account: str = ""
    model: str = ""
    owner: str = ""


@dataclass(frozen=True)
class Queued:
    """A machine of the queue. ``since``: of its idle clock; ``state_since``: of its verdict.

    ``minutes``: covered minutes idle, None before they are counted. ``idle_at``: None unless it waits.
    """

    id: int
    account: str | None
    name: str
    team_id: int | None
    gpu_count: int | None
    model: str
    owner: str
    state: str
    reason: str
    since: datetime | None
    state_since: datetime
    minutes: float | None
    quiet_since: datetime | None
    idle_at: datetime | None
    facts: str | None  # JSON that exemptions look at, of an idle one

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.name)


def queued(asked: QueueAsked) -> list[Queued]:
    """Read the queue, in no order that matters."""
    where = Conditions(asked.teams, "i.team_id")
    where.equal("a.name", asked.account or None)
    where.equal("i.attributes ->> 'gpu_model'", asked.model or None)
    where.equal("lower(i.attributes ->> 'owner')", asked.owner.lower() or None)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT i.id, a.name, i.external_id, i.team_id, i.gpu_count, coalesce(i.attributes ->> 'gpu_model', ''),
                   coalesce(i.attributes ->> 'owner', ''), v.state, v.reason, v.since, v.start,
                   (f.evidence ->> 'minutes')::float8, w.quiet_since, w.idle_at,
                   CASE WHEN v.state IN ('held', 'empty') THEN jsonb_build_object(
                       'profile', i.attributes -> 'profile', 'tags', i.attributes -> 'tags',
                       'purchase_option', i.attributes -> 'purchase_option')::text END
            FROM fleet_verdict v JOIN fleet_instance i ON i.id = v.subject_id
            LEFT JOIN fleet_account a ON a.id = i.account_id LEFT JOIN fleet_waiting w ON w.instance_id = i.id
            LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'instance' AND f.subject_id = i.id
                AND f.closed_at IS NULL AND v.state IN ('held', 'empty')
            WHERE v.subject_kind = 'instance' AND v."end" IS NULL
                AND (v.state IN ('held', 'empty', 'unknown') OR w.instance_id IS NOT NULL) AND {where.sql}
            ORDER BY i.id
            """,
            where.values,
        )
        return [Queued(*row) for row in cursor.fetchall()]


def evidence_of(instance_ids: Sequence[int]) -> dict[int, Mapping[str, Any]]:
    """Give what the current verdicts of instances rest on, brought up to date by an open idle finding."""
    if not instance_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT v.subject_id, (v.evidence || coalesce(f.evidence, '{}'))::text FROM fleet_verdict v
            LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'instance'
                AND f.subject_id = v.subject_id AND f.closed_at IS NULL
            WHERE v.subject_kind = 'instance' AND v."end" IS NULL AND v.subject_id = ANY(%s)
            """,
            [list(instance_ids)],
        )
        return {pk: orjson.loads(evidence) for pk, evidence in cursor.fetchall()}


def exempt_of(rows: Collection[Queued], at: datetime) -> dict[int, Mapping[str, Any]]:
    """Give what exempts machines, by row id: who says so (by), why (reason), until when (until, None: for ever)."""
    exempt = ExemptNow([(row.name, row.account) for row in rows], at)
    if not rows or not exempt.can_exempt:
        return {}
    found = {row.id: exempt.of(row.name, row.account, row.team_id, orjson.loads(row.facts or "{}")) for row in rows}
    return {pk: one for pk, one in found.items() if one}


def queue_choices(teams: TeamChoice) -> tuple[list[str], list[str]]:
    """Give the accounts and the GPU models of machines that may be seen, for filters."""
    condition, values = teams.condition("i.team_id")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT array_agg(DISTINCT a.name) FILTER (WHERE a.name IS NOT NULL),
                   array_agg(DISTINCT i.attributes ->> 'gpu_model')
                       FILTER (WHERE coalesce(i.attributes ->> 'gpu_model', '') <> '')
            FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
            WHERE i.state NOT IN ('terminated', 'gone') AND {condition}
            """,
            values,
        )
        accounts, models = cursor.fetchone()
    return sorted(accounts or []), sorted(models or [])
