"""Beat and worker: every job of the table exists, and is due when beat starts."""

from __future__ import annotations

from importlib import import_module

from config.celery import EverythingDueAtStart, app
from config.schedule import JOBS, TASK


def test_every_job_names_a_function() -> None:
    for job in JOBS:
        module, _, name = job.function.rpartition(".")
        assert callable(getattr(import_module(module), name)), job.function


def test_the_task_is_known_by_its_name() -> None:
    app.loader.import_default_modules()
    assert TASK in app.tasks


def test_everything_is_due_at_start() -> None:
    scheduler = EverythingDueAtStart(app=app)
    assert sorted(scheduler.schedule) == sorted(job.name for job in JOBS)
    assert all(entry.is_due()[0] for entry in scheduler.schedule.values())


def test_messages_are_json_and_no_results_are_kept() -> None:
    assert (app.conf.task_serializer, app.conf.accept_content, app.conf.task_ignore_result) == ("json", ["json"], True)
