"""Keeping what is worth its space: months of samples are made ahead and dropped whole."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings

from common.partitions import drop_months, make_months
from fleet.domain.gpu_hours import GPU_HOURS_KEPT
from fleet.models import SourcePull
from fleet.queries.samples import newest_hour

TABLE = "fleet_samplehour"
AHEAD = timedelta(days=40)


def retain(*, now: datetime) -> dict[str, int]:
    """Make the months ahead of ``now``.

    Drop samples and pulls older than the retention, counted from the newest sample.

    Whole months are dropped: what is asked for is kept, and up to a month more.
    """
    newest = newest_hour()
    make_months(TABLE, [now, now + AHEAD])
    if newest is None:
        return {"dropped": 0, "pulls_dropped": 0}
    oldest = newest - timedelta(days=settings.SAMPLE_DAYS)
    dropped = drop_months(TABLE, before=oldest)
    hours = drop_months("fleet_gpuhour", before=newest - GPU_HOURS_KEPT)
    pulls, _ = SourcePull.objects.filter(at__lt=oldest, until__lt=oldest).delete()
    return {"dropped": dropped + hours, "pulls_dropped": pulls}
