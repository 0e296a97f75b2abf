"""The one table of periodic jobs. Celery is the clock and the distribution; the database is the truth.

Each job is level-triggered: it reads the state of the world and moves it on, so a run may be late, lost or doubled
without harm. `config/pipeline.py` runs them; the same functions serve `tick` and `replay`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any


@dataclass(frozen=True)
class PeriodicJob:
    """A job, how often it runs, and after how long a run is given up. ``function`` is where its work stands."""

    name: str
    function: str
    every: timedelta
    time_limit: timedelta


JOBS = (
    PeriodicJob("sync_instances", "config.passes.sync_instances", timedelta(minutes=5), timedelta(minutes=4)),
    PeriodicJob("collect", "config.passes.collect", timedelta(minutes=5), timedelta(minutes=15)),  # judge, meter follow
    PeriodicJob("deliver", "config.passes.deliver", timedelta(seconds=10), timedelta(minutes=2)),
    PeriodicJob("retain", "config.passes.retain", timedelta(days=1), timedelta(minutes=30)),
)
TASK = "config.tasks.run_periodic_job"


def beat_schedule(jobs: tuple[PeriodicJob, ...] = JOBS) -> Mapping[str, Mapping[str, Any]]:
    """Give Celery beat's entries. A message that nobody takes within one interval expires: the next does its work."""
    return {
        job.name: {
            "task": TASK,
            "args": (job.name,),
            "schedule": job.every,
            "options": {
                "expires": job.every.total_seconds(),
                "soft_time_limit": job.time_limit.total_seconds(),
                "time_limit": job.time_limit.total_seconds() + 30,
            },
        }
        for job in jobs
    }
