"""How the fleet stands now: current verdicts of instances, of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import quote

import orjson
from django.db import connection

from people.roles import TeamChoice


@dataclass(frozen=True)
class IdleInstance:
    """An instance that is held or empty now. ``since``: of its idle clock; ``account`` None: no account knows the host."""

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
    """``instances``: state -> how many. ``metered_until``: the last hour pass that went well."""

    instances: Mapping[str, int]
    metered_until: datetime | None

    @property
    def total(self) -> int:
        """How many instances have a verdict."""
        return sum(self.instances.values())


def instance_path(account: str | None, external_id: str) -> str:
    """Give the address of an instance's record; hosts that no account knows stand under ``-``."""
    return f"/instances/{quote(account or '-', safe='')}/{quote(external_id, safe='/:')}/"


_CURRENT = """
    FROM fleet_verdict v JOIN fleet_instance i ON i.id = v.subject_id
    WHERE v.subject_kind = 'instance' AND v."end" IS NULL AND {condition}
"""


def idle_instances(choice: TeamChoice) -> list[IdleInstance]:
    """Give every instance that is idle now."""
    where, values = choice.condition("i.team_id")
    query = f"""
        SELECT i.id, (SELECT name FROM fleet_account a WHERE a.id = i.account_id), i.external_id, i.host, i.team_id,
               i.gpu_count, i.attributes, v.state, v.reason, v.since, v.policy, v.confidence, v.evidence
        {_CURRENT.format(condition=where)} AND v.state IN ('held', 'empty')
    """
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [IdleInstance(*row[:6], orjson.loads(row[6]), *row[7:12], orjson.loads(row[12])) for row in cursor.fetchall()]


def fleet_now(choice: TeamChoice) -> FleetNow:
    """Count instances by their current state, and say how far hours are metered."""
    where, values = choice.condition("i.team_id")
    query = f"""
        SELECT coalesce(jsonb_object_agg(state, n), '{{}}'),
               (SELECT max(ok_at) FROM fleet_jobrun WHERE name = 'meter')
        FROM (SELECT v.state, count(*) AS n {_CURRENT.format(condition=where)} GROUP BY v.state) counted
    """
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        row = cursor.fetchone()
    return FleetNow(orjson.loads(row[0]), row[1])
