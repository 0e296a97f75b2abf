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
    """``instances``: state -> how many. ``metered_until``: the last good pass over hours.

    ``idle``: ids of the idle ones, the longest idle first; `idle_instances` reads what is shown of them.
    ``idle_gpus``: the devices in them.
    """

    instances: Mapping[str, int]
    metered_until: datetime | None
    idle: Sequence[int]
    idle_gpus: int

    @property
    def total(self) -> int:
        """How many instances have a verdict."""
        return sum(self.instances.values())


def instance_path(account: str | None, external_id: str) -> str:
    """Give the address of an instance's record; hosts that no account knows stand under ``-``."""
    return f"/instances/{quote(account or '-', safe='')}/{quote(external_id, safe='/:')}/"


def fleet_now(choice: TeamChoice) -> FleetNow:
    """Count the current verdicts of instances and list the idle ones in one row, without any evidence."""
    condition, values = choice.condition("i.team_id")
    query = f"""
        WITH current AS (
            SELECT v.state, v.since, i.id, i.gpu_count
            FROM fleet_verdict v JOIN fleet_instance i ON i.id = v.subject_id
            WHERE v.subject_kind = 'instance' AND v."end" IS NULL AND {condition}
        ), idle AS (
            SELECT * FROM current WHERE state IN ('held', 'empty')
        )
        SELECT (SELECT jsonb_object_agg(state, n)
                FROM (SELECT state, count(*) AS n FROM current GROUP BY state) counted),
               (SELECT max(ok_at) FROM fleet_jobrun WHERE name = 'meter'),
               (SELECT array_agg(id ORDER BY since, id) FROM idle),
               (SELECT sum(gpu_count) FROM idle)
    """
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        states, metered_until, idle, gpus = cursor.fetchone()
    return FleetNow(orjson.loads(states or "{}"), metered_until, idle or [], gpus or 0)


def idle_instances(instance_ids: Sequence[int]) -> dict[int, IdleInstance]:
    """Read these instances in full, for a page that shows them; what stopped being idle meanwhile is not among them.

    The ids are those of `fleet_now`, which has seen to who may see them.
    """
    if not instance_ids:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(_IN_FULL, [list(instance_ids)])
        return {row[0]: _idle_instance(row) for row in cursor.fetchall()}


_IN_FULL = """
    SELECT i.id, a.name, i.external_id, i.host, i.team_id, i.gpu_count, i.attributes, v.state, v.reason,
           v.since, v.policy, v.confidence, v.evidence || coalesce(f.evidence, '{}')
    FROM fleet_verdict v JOIN fleet_instance i ON i.id = v.subject_id LEFT JOIN fleet_account a ON a.id = i.account_id
    LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'instance' AND f.subject_id = i.id
        AND f.closed_at IS NULL
    WHERE v.subject_kind = 'instance' AND v."end" IS NULL AND v.state IN ('held', 'empty') AND v.subject_id = ANY(%s)
"""


def _idle_instance(row: Sequence[Any]) -> IdleInstance:
    values: list[Any] = [*row]
    values[6], values[12] = orjson.loads(values[6]), orjson.loads(values[12])
    return IdleInstance(*values)
