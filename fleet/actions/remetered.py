"""The marks that metering leaves for billing: taken, and set again when prices change."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from django.db import connection


def take_remetered(*, limit: int) -> dict[int, list[datetime]]:
    """Take (and remove) the marks of up to ``limit`` instance-hours, oldest first, in the caller's transaction."""
    taken: defaultdict[int, list[datetime]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM fleet_remeteredhour WHERE id IN (SELECT id FROM fleet_remeteredhour"
            " ORDER BY hour, instance_id LIMIT %s) RETURNING instance_id, hour",
            [limit],
        )
        for instance, hour in cursor.fetchall():
            taken[instance].append(hour)
    return taken


def mark_remetered(
    *, since: datetime, until: datetime | None = None, instance_ids: Collection[int] | None = None
) -> int:
    """Mark the metered hours that overlap [since, until) to be priced again; None: all instances, without end."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO fleet_remeteredhour (instance_id, hour)"
            " SELECT DISTINCT instance_id, hour FROM fleet_gpuhour WHERE hour > %(since)s - interval '1 hour'"
            " AND (%(until)s::timestamptz IS NULL OR hour < %(until)s)"
            " AND (%(all)s OR instance_id = ANY(%(ids)s)) ON CONFLICT DO NOTHING",
            {"since": since, "until": until, "all": instance_ids is None, "ids": list(instance_ids or ())},
        )
        return int(cursor.rowcount)


def mark_hours_remetered(hours: Collection[tuple[int, datetime]]) -> None:
    """Mark these (instance, hour) to be priced again."""
    if not hours:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO fleet_remeteredhour (instance_id, hour)"
            " SELECT * FROM unnest(%s::bigint[], %s::timestamptz[]) ON CONFLICT DO NOTHING",
            [list(column) for column in zip(*hours, strict=True)],
        )
