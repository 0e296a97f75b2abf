"""The Celery application: `celery -A config worker`, `celery -A config beat`."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from celery.beat import Scheduler
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
TRANSPORT_ALIASES["fleetledger-files"] = "config.broker:Transport"
app = Celery("fleetledger", set_as_current=True)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["config"])
LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)


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
