"""The table of periodic jobs, as beat sees it."""

from __future__ import annotations

from datetime import timedelta

from config.schedule import JOBS, TASK, PeriodicJob, beat_schedule


def test_an_entry_expires_after_one_interval_and_ends_after_its_limit() -> None:
    job = PeriodicJob("judge", "config.passes.judge", timedelta(minutes=5), timedelta(minutes=4))
    assert beat_schedule((job,)) == {
        "judge": {
            "task": TASK,
            "args": ("judge",),
            "schedule": timedelta(minutes=5),
            "options": {"expires": 300.0, "soft_time_limit": 240.0, "time_limit": 270.0},
        }
    }


def test_names_are_unique() -> None:
    assert len(beat_schedule()) == len(JOBS)
