"""Mark hours that have to be metered again."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from django.db import connection


def mark_from(since: Mapping[int, datetime]) -> None:
    """Mark, for each instance (row id), every hour from its moment on that was metered or lies between such hours.

    Hours that were never metered need no mark: the meter catches up with them by itself.
    """
    if not since:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedhour (instance_id, hour)
            SELECT known.instance_id, mark FROM (
                SELECT hours.instance_id, max(hours.hour) AS newest,
                       greatest(date_trunc('hour', asked.since, 'UTC'), least(min(hours.hour), min(states.first))) AS oldest
                FROM unnest(%s::bigint[], %s::timestamptz[]) AS asked (instance_id, since)
                JOIN fleet_gpuhour AS hours ON hours.instance_id = asked.instance_id
                LEFT JOIN (
                    SELECT instance_id, min(date_trunc('hour', start, 'UTC')) FILTER (WHERE start > 'epoch') AS first
                    FROM fleet_instancestate WHERE instance_id = ANY(%s) GROUP BY instance_id
                ) AS states ON states.instance_id = asked.instance_id
                GROUP BY hours.instance_id, asked.since
            ) AS known, generate_series(known.oldest, known.newest, '1 hour') AS mark
            ON CONFLICT DO NOTHING
            """,
            [list(since), list(since.values()), list(since)],
        )


def mark_all_from(since: datetime, *, unassigned_only: bool = False) -> None:
    """Mark every metered hour from ``since`` on, or only those with minutes of no team."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            INSERT INTO fleet_changedhour (instance_id, hour)
            SELECT DISTINCT instance_id, hour FROM fleet_gpuhour
            WHERE hour >= date_trunc('hour', %s::timestamptz, 'UTC') {"AND team_id IS NULL" if unassigned_only else ""}
            ON CONFLICT DO NOTHING
            """,
            [since],
        )


def mark_placements(placement_ids: list[int]) -> None:
    """Mark the hours in which these placements stood, as far as their GPUs were seen."""
    if not placement_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedhour (instance_id, hour)
            SELECT DISTINCT p.instance_id, mark
            FROM fleet_gpuplacement AS p JOIN fleet_gpu AS g ON g.id = p.gpu_id,
                 generate_series(date_trunc('hour', p.start, 'UTC'), least(coalesce(p."end", g.last_seen_at), g.last_seen_at), '1 hour') AS mark
            WHERE p.id = ANY(%s) AND p.instance_id IS NOT NULL
            ON CONFLICT DO NOTHING
            """,
            [placement_ids],
        )
