"""How the fleet stands now: current verdicts of instances, of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

import orjson
from django.db import connection

from people.roles import TeamChoice


@dataclass(frozen=True)
class IdleInstance:
    """An instance that is idle now. ``since``: of its idle clock; ``account`` None: no account knows the host.

    ``evidence`` is that of the open finding, which each pass brings up to date, else that of the verdict.
    """

    id: int
    account: str | None
    external_id: str
    host: str
    team_id: int | None
    gpu_count: int | None
    attributes: Mapping[str, Any]
    state: str
    reason: str
    since: datetime | None
    policy: str
    confidence: str
    evidence: Mapping[str, Any]

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.external_id)


@dataclass(frozen=True)
class FleetNow:
    """``instances``: state -> how many. ``metered_until``: the last good pass over hours. ``idle``: the idle ones."""

    instances: Mapping[str, int]
    metered_until: datetime | None
    idle: list[IdleInstance]

    @property
    def total(self) -> int:
        """How many instances have a verdict."""
        return sum(self.instances.values())


def instance_path(account: str | None, external_id: str) -> str:
    """Give the address of an instance's record; hosts that no account knows stand under ``-``."""
    return f"/instances/{quote(account or '-', safe='')}/{quote(external_id, safe='/:')}/"


def fleet_now(choice: TeamChoice) -> FleetNow:
    """Read the current verdicts of instances in one question; the idle ones in no order."""
    condition, values = choice.condition("i.team_id")
    query = f"""
        WITH current AS (
            SELECT v.state, v.reason, v.since, v.policy, v.confidence, v.evidence, i.id, i.account_id, i.external_id,
                   i.host, i.team_id, i.gpu_count, i.attributes
            FROM fleet_verdict v JOIN fleet_instance i ON i.id = v.subject_id
            WHERE v.subject_kind = 'instance' AND v."end" IS NULL AND {condition}
        ), whole AS (
            SELECT (SELECT jsonb_object_agg(state, n)
                    FROM (SELECT state, count(*) AS n FROM current GROUP BY state) counted),
                   (SELECT max(ok_at) FROM fleet_jobrun WHERE name = 'meter')
        )
        SELECT whole.*, i.id, a.name, i.external_id, i.host, i.team_id, i.gpu_count, i.attributes, i.state, i.reason,
               i.since, i.policy, i.confidence, i.evidence || coalesce(f.evidence, '{{}}')
        FROM whole LEFT JOIN current i ON i.state IN ('held', 'empty') LEFT JOIN fleet_account a ON a.id = i.account_id
        LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'instance' AND f.subject_id = i.id
            AND f.closed_at IS NULL
    """
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows = cursor.fetchall()
    idle = [_idle_instance(row[2:]) for row in rows if row[2] is not None]
    return FleetNow(orjson.loads(rows[0][0] or "{}"), rows[0][1], idle)


def _idle_instance(row: Sequence[Any]) -> IdleInstance:
    values: list[Any] = [*row]
    values[6], values[12] = orjson.loads(values[6]), orjson.loads(values[12])
    return IdleInstance(*values)
