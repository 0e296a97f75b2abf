"""Read how the periodic jobs went."""

from __future__ import annotations

from fleet.models import JobRun


def latest_runs() -> list[JobRun]:
    """Give the last run of every job, by name."""
    return list(JobRun.objects.order_by("name", "shard"))
