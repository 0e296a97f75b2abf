"""Mark hours to be priced again: those with GPU time, and those in which only a disk or a machine without GPUs cost."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import connection

from fleet.actions.remetered import mark_hours_remetered, mark_remetered

BARE = """
SELECT DISTINCT s.instance_id, s.hour FROM billing_instancehourcost s
 WHERE s.hour > %(since)s - interval '1 hour' AND (%(until)s::timestamptz IS NULL OR s.hour < %(until)s)
   AND (%(all)s OR s.instance_id = ANY(%(ids)s))
   AND NOT EXISTS (SELECT 1 FROM fleet_gpuhour h WHERE h.hour = s.hour AND h.instance_id = s.instance_id)
"""


def mark_priced(*, since: datetime, until: datetime | None = None, instance_ids: Collection[int] | None = None) -> None:
    """Mark the hours that overlap [since, until) (None: without end) of these instances (None: all)."""
    mark_remetered(since=since, until=until, instance_ids=instance_ids)
    parameters = {
        "since": since,
        "until": until,
        "all": instance_ids is None,
        "ids": list(instance_ids or ()),
    }
    with connection.cursor() as cursor:
        cursor.execute(BARE, parameters)
        bare = cursor.fetchall()
    mark_hours_remetered(bare)
