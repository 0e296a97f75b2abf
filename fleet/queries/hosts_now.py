"""How a few hosts stand now, by the name under which telemetry knows them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from django.db import connection

from fleet.queries.standing import instance_path


@dataclass(frozen=True)
class HostNow:
    """The newest machine of a host with its current verdict; empty strings where it was never judged."""

    host: str
    name: str
    path: str
    state: str
    reason: str


def hosts_now(hosts: Collection[str]) -> dict[str, HostNow]:
    """Give the hosts that are known, by name. It is for who may see everything: it looks at no team."""
    if not hosts:
        return {}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT DISTINCT ON (i.host) i.host, i.external_id, a.name, coalesce(v.state, ''), coalesce(v.reason, '')
            FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
            LEFT JOIN fleet_verdict v ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL
            WHERE i.host = ANY(%s) ORDER BY i.host, i.launched_at DESC NULLS LAST, i.id DESC
            """,
            [sorted(hosts)],
        )
        rows = cursor.fetchall()
    return {row[0]: HostNow(row[0], row[1], instance_path(row[2], row[1]), row[3], row[4]) for row in rows}
