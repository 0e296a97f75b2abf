"""Keeping what is worth its space: partitions are made ahead and dropped whole."""

from __future__ import annotations

import os
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction

from fleet.actions.samples import make_partitions
from fleet.models import SourcePull
from fleet.queries.samples import newest_hour

AHEAD = timedelta(days=14)
PULL_DAYS = 100


def sample_days() -> int:
    """Give how many days samples are kept (FLEETLEDGER_SAMPLE_DAYS, 100)."""
    return int(getattr(settings, "SAMPLE_DAYS", 0) or os.environ.get("FLEETLEDGER_SAMPLE_DAYS") or 100)


def retain(*, now: datetime) -> dict[str, int]:
    """Make partitions ahead of ``now``; drop samples older than the retention, counted from the newest sample."""
    newest = newest_hour()
    start = int((newest or now).timestamp()) // 3600 * 3600
    ahead = range(start, int((max(now, newest or now) + AHEAD).timestamp()), 86_400)
    with transaction.atomic():
        made = make_partitions(list(ahead)[:60])
        dropped = 0
        if newest is not None:
            with connection.cursor() as cursor:
                cursor.execute("SELECT fleet_drop_sample_partitions(%s)", [newest - timedelta(days=sample_days())])
                row = cursor.fetchone()
                dropped = int(row[0]) if row else 0
            SourcePull.objects.filter(at__lt=newest - timedelta(days=PULL_DAYS), until__lt=newest - timedelta(days=PULL_DAYS)).delete()
    return {"partitions_made": made, "partitions_dropped": dropped}
