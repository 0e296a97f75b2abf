"""Machines as they stand now, with what they do: of visible teams only (rule 9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from fleet.queries.standing import instance_path
from people.roles import TeamChoice

IDLE_TEAMS = """
    SELECT i.team_id, array_agg(i.id) FROM fleet_verdict v JOIN fleet_instance i ON i.id = v.subject_id
    WHERE v.subject_kind = 'instance' AND v."end" IS NULL AND v.state IN ('held', 'empty') AND {condition}
    GROUP BY i.team_id
"""


@dataclass(frozen=True)
class MachineNow:
    """An instance. ``state`` is that of its verdict, '' while nobody has judged it; ``running`` its provider's word."""

    id: int
    account: str | None
    external_id: str
    host: str
    team_id: int | None
    gpu_count: int | None
    model: str
    owner: str
    running: str
    state: str
    reason: str
    since: datetime | None
    evidence: Mapping[str, Any]
    quiet_since: datetime | None = None  # of one that is quiet and not idle yet, which it would be at ``idle_at``
    idle_at: datetime | None = None

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.external_id)


def machines_now(
    choice: TeamChoice, *, ids: Collection[int] = (), owners: Collection[str] | None = None, with_present: bool = True
) -> list[MachineNow]:
    """Give the machines of ``choice`` that are there, and those of ``ids`` that it covers, by name.

    ``owners``: of those that are there only the ones of these persons, in any case. ``with_present`` False: only
    ``ids``.
    """
    condition, values = choice.condition("i.team_id")
    wanted: dict[str, Any] = {
        "ids": list(ids), "present": with_present, "any_owner": owners is None,
        "owners": [one.lower() for one in owners or ()],
    }  # fmt: skip
    numbered = condition.replace("%s", "%(teams)s")
    with connection.cursor() as cursor:
        cursor.execute(_MACHINES.format(condition=numbered), wanted | ({"teams": values[0]} if values else {}))
        rows = cursor.fetchall()
    return [_machine(row) for row in rows]


def _machine(row: Sequence[Any]) -> MachineNow:
    values: list[Any] = [*row]
    values[12] = orjson.loads(values[12] or "{}")
    return MachineNow(*values)


def idle_teams(choice: TeamChoice) -> dict[int | None, list[int]]:
    """Give the ids of the instances that are idle now, by their team (None: Unassigned)."""
    condition, values = choice.condition("i.team_id")
    with connection.cursor() as cursor:
        cursor.execute(IDLE_TEAMS.format(condition=condition), values)
        return dict(cursor.fetchall())


_MACHINES = """
    SELECT i.id, a.name, i.external_id, i.host, i.team_id, i.gpu_count,
           coalesce(nullif(i.attributes ->> 'gpu_model', ''),
                    (SELECT min(g.model) FROM fleet_gpu g WHERE g.instance_id = i.id), ''),
           coalesce(i.attributes ->> 'owner', ''), i.state, coalesce(v.state, ''), coalesce(v.reason, ''), v.since,
           (v.evidence || coalesce(f.evidence, '{{}}'))::text, w.quiet_since, w.idle_at
    FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
    LEFT JOIN fleet_verdict v ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL
    LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'instance' AND f.subject_id = i.id
        AND f.closed_at IS NULL
    LEFT JOIN fleet_waiting w ON w.instance_id = i.id
    WHERE {condition} AND (i.id = ANY(%(ids)s) OR (%(present)s AND i.state NOT IN ('terminated', 'gone')
        AND (%(any_owner)s OR lower(i.attributes ->> 'owner') = ANY(%(owners)s))))
    ORDER BY i.external_id, i.id
"""
