"""Keep which instances are quiet and not idle yet."""

from __future__ import annotations

from django.db import connection

from fleet.queries.findings_now import Scene
from fleet.queries.waiting_now import waiting_now


def keep_waiting(scene: Scene) -> int:
    """Make the table what holds at this pass, in the caller's transaction; give how many wait."""
    found = list(waiting_now(scene))
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH new AS (
                SELECT * FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) AS row (pk, since, idle_at)
            ), gone AS (
                DELETE FROM fleet_waiting WHERE instance_id NOT IN (SELECT pk FROM new)
            )
            INSERT INTO fleet_waiting AS old (instance_id, quiet_since, idle_at) SELECT pk, since, idle_at FROM new
            ON CONFLICT (instance_id) DO UPDATE SET quiet_since = excluded.quiet_since, idle_at = excluded.idle_at
            WHERE (old.quiet_since, old.idle_at) IS DISTINCT FROM (excluded.quiet_since, excluded.idle_at)
            """,
            [[one.id for one in found], [one.quiet_since for one in found], [one.idle_at for one in found]],
        )
    return len(found)
