"""The Celery application: `celery -A config worker`, `celery -A config beat`."""

from __future__ import annotations

import os
import sys
from datetime import UTC, datetime
from typing import Any

from celery import Celery, signals
from celery.beat import Scheduler
from kombu.transport import TRANSPORT_ALIASES

from common.errors import FleetledgerError
from config import broker, startup
from config.embedded import Hold

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
TRANSPORT_ALIASES["fleetledger-files"] = "config.broker:Transport"
app = Celery("fleetledger", set_as_current=True)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["config"])
_holds: list[Hold] = []
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


@signals.celeryd_init.connect
@signals.beat_init.connect
def bring_database_up(**_options: Any) -> None:
    """Check the environment and hold the embedded engine, before worker or beat do anything."""
    from django.conf import settings

    try:
        hold = startup.begin()
    except FleetledgerError as error:
        sys.exit(startup.report(error))
    if hold is not None:
        _holds.append(hold)
    if not settings.ENVIRONMENT.is_set("CELERY_BROKER_URL"):
        broker.make_folders(settings.FOLDER.broker)


@signals.celeryd_init.connect
def take_back_messages(**_options: Any) -> None:
    """Put back what a killed worker had claimed, before this one takes its first message."""
    from django.conf import settings

    if not settings.ENVIRONMENT.is_set("CELERY_BROKER_URL"):
        broker.sweep(settings.FOLDER.broker)


def let_database_go() -> None:
    """Let go of the embedded engine."""
    while _holds:
        _holds.pop().release()


class EverythingDueAtStart(Scheduler):
    """Beat without a file of its own: at start every job is due, since each looks for itself what there is to do."""

    def setup_schedule(self) -> None:
        """Take the table of jobs."""
        self.install_default_entries({})
        self.merge_inplace(self.app.conf.beat_schedule)

    def merge_inplace(self, entries: Any) -> None:
        """Merge as always, then forget when each entry ran last."""
        super().merge_inplace(entries)
        for entry in self.schedule.values():
            entry.last_run_at = LONG_AGO
