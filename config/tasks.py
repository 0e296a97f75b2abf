"""The door by which Celery enters: one thin task."""

from __future__ import annotations

from celery import shared_task


@shared_task(name="config.tasks.run_periodic_job", ignore_result=True)
def run_periodic_job(name: str) -> None:
    """Run one job of `config/schedule.py` by the real clock."""
    from config.pipeline import run_job

    run_job(name)
