"""The marks of hours to be metered: set for stretches of time, taken in chunks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import connection

LOCK = "fleet.meter"

MARK = """
INSERT INTO fleet_changedhour (instance_id, hour)
SELECT s.instance, h.hour
  FROM unnest(%s::bigint[], %s::timestamptz[], %s::timestamptz[]) s(instance, first, last)
 CROSS JOIN LATERAL generate_series(
    date_bin('1 hour', s.first, 'epoch'), s.last - interval '1 microsecond', interval '1 hour') h(hour)
ON CONFLICT DO NOTHING
"""
TAKE = """
WITH first AS (
    SELECT min(hour) AS hour FROM fleet_changedhour WHERE hour < %(as_of)s
), marked AS (
    SELECT c.instance_id, count(*) AS hours FROM fleet_changedhour c, first
     WHERE c.hour >= first.hour AND c.hour < least(first.hour + %(window)s::interval, %(as_of)s) GROUP BY 1
), sized AS (
    SELECT m.instance_id,
           m.hours * greatest(i.gpu_count, (SELECT count(*) FROM fleet_gpu g WHERE g.instance_id = i.id), 1) AS size
      FROM marked m JOIN fleet_instance i ON i.id = m.instance_id
), placed AS (
    SELECT instance_id, sum(size) OVER (ORDER BY instance_id) - size AS before FROM sized
)
DELETE FROM fleet_changedhour c USING placed p, first
 WHERE p.before < %(gpu_hours)s AND c.instance_id = p.instance_id AND c.hour >= first.hour
   AND c.hour < least(first.hour + %(window)s::interval, %(as_of)s)
RETURNING c.instance_id, c.hour
"""


def mark_stretches(stretches: Sequence[tuple[int, datetime, datetime]]) -> None:
    """Mark every hour that overlaps one of ``stretches`` (instance, start, end)."""
    if not stretches:
        return
    with connection.cursor() as cursor:
        cursor.execute(MARK, [list(column) for column in zip(*stretches, strict=True)])


def take_lock() -> None:
    """Let one chunk at a time be metered: two at once would only wait for each other's rows."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [LOCK])


def marks_left(as_of: datetime) -> int:
    """Give how many hours before ``as_of`` are marked."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM fleet_changedhour WHERE hour < %s", [as_of])
        row = cursor.fetchone()
    return int(row[0]) if row else 0


def take_marks(as_of: datetime, *, window: timedelta, gpu_hours: int) -> dict[int, list[datetime]]:
    """Take (and remove) the marks of one chunk before ``as_of``: the oldest ``window`` of time.

    It has as many instances as together hold about ``gpu_hours``, at least one.
    """
    taken: defaultdict[int, list[datetime]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(TAKE, {"as_of": as_of, "window": f"{window.total_seconds()} seconds", "gpu_hours": gpu_hours})
        for instance, hour in cursor.fetchall():
            taken[instance].append(hour)
    return taken
