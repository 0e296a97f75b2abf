"""Mark hours that have to be metered again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import connection


def mark_from(since: Mapping[int, datetime]) -> None:
    """Mark, for each instance (row id), every hour from its moment on as far as it was metered.

    Hours that were never metered need no mark: the meter catches up with them by itself.
    """
    if not since:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedhour (instance_id, hour)
            SELECT span.instance_id, mark
            FROM unnest(%s::bigint[], %s::timestamptz[]) AS asked (instance_id, since)
            JOIN fleet_meteredspan AS span USING (instance_id),
                generate_series(
                    date_trunc('hour', greatest(asked.since, span.start), 'UTC'),
                    span.until - interval '1 microsecond',
                    '1 hour'
                ) AS mark
            ON CONFLICT DO NOTHING
            """,
            [list(since), list(since.values())],
        )


def mark_all_from(since: datetime) -> None:
    """Mark every metered hour of every instance from ``since`` on."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedhour (instance_id, hour)
            SELECT span.instance_id, mark
            FROM fleet_meteredspan AS span,
                generate_series(
                    date_trunc('hour', greatest(%s::timestamptz, span.start), 'UTC'),
                    span.until - interval '1 microsecond',
                    '1 hour'
                ) AS mark
            ON CONFLICT DO NOTHING
            """,
            [since],
        )


def mark_unassigned() -> None:
    """Mark the metered hours in which something was nobody's: a team that is new may be its team."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO fleet_changedhour (instance_id, hour)"
            " SELECT DISTINCT instance_id, hour FROM fleet_gpuhour WHERE team_id IS NULL ON CONFLICT DO NOTHING"
        )
