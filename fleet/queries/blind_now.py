"""What we do not see: running machines whose state nobody can tell, and hosts that no account knows. For the admin."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from fleet.queries.standing import instance_path


@dataclass(frozen=True)
class Blind:
    """A machine that runs and can't be seen. ``seen_at``: newest point of any GPU of it; None: never any."""

    account: str | None
    name: str
    reason: str
    seen_at: datetime | None

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.name)


@dataclass(frozen=True)
class BlindNow:
    """``machines``: the first few by how long they are gone; ``count`` of them; hosts that don't fit the inventory."""

    machines: list[Blind]
    count: int
    running: int
    gpus: int
    unknown_hosts: list[tuple[str, str]]  # name, address


def blind_now(shown: int) -> BlindNow:
    """Read it for the whole organisation: it looks at no team."""
    with connection.cursor() as cursor:
        cursor.execute(_BLIND, [shown])
        rows = cursor.fetchall()
        cursor.execute(_HOSTS, [shown])
        hosts = [(name, instance_path(account, name)) for name, account in cursor.fetchall()]
    count, running, gpus = rows[0][:3]
    machines = [Blind(*row[3:]) for row in rows if row[4] is not None]
    return BlindNow(machines, count, running, int(gpus or 0), hosts)


_BLIND = """
    WITH running AS (
        SELECT i.id, i.account_id, i.external_id, i.gpu_count, v.state, v.reason FROM fleet_instance i
        LEFT JOIN fleet_verdict v ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL
        WHERE i.state IN ('running', 'stopping')
    ), blind AS (
        SELECT * FROM running WHERE state IS NULL OR state = 'unknown'
    ), whole AS (
        SELECT (SELECT count(*) FROM blind) AS n, (SELECT count(*) FROM running) AS of,
               (SELECT sum(gpu_count) FROM blind) AS gpus
    )
    SELECT whole.*, a.name, b.external_id, coalesce(b.reason, 'never_seen'), seen.at
    FROM whole LEFT JOIN blind b ON true LEFT JOIN fleet_account a ON a.id = b.account_id
    LEFT JOIN LATERAL (SELECT max(last_seen_at) AS at FROM fleet_gpu g WHERE g.instance_id = b.id) seen ON true
    ORDER BY seen.at NULLS FIRST, b.external_id LIMIT %s
"""
_HOSTS = """
    SELECT i.external_id, a.name FROM fleet_finding f JOIN fleet_instance i ON i.id = f.instance_id
    LEFT JOIN fleet_account a ON a.id = i.account_id
    WHERE f.kind = 'unknown_host' AND f.closed_at IS NULL ORDER BY f.since, f.id LIMIT %s
"""
