"""How fresh what we say is: per source and per job."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import OuterRef, Subquery

from fleet.models import JobRun, Source, SourcePull

LATE_AFTER = timedelta(minutes=15)
PULL_FIELDS = ("error_code", "error_message", "error_hint", "gpus", "coverage_pct")


@dataclass(frozen=True)
class SourceHealth:
    """A telemetry source and how its last pull went. ``age`` is None before the first complete answer."""

    name: str
    collected_until: datetime | None
    age: timedelta | None
    error_code: str
    error_message: str
    error_hint: str
    gpus: int | None
    coverage_pct: float | None

    @property
    def is_failing(self) -> bool:
        """Whether the last pull went wrong."""
        return bool(self.error_code)

    @property
    def is_late(self) -> bool:
        """Whether its newest complete answer is too old to rely on."""
        return self.age is not None and self.age > LATE_AFTER


def sources_health(now: datetime) -> list[SourceHealth]:
    """Give every enabled metric source by name, with its last pull."""
    last = SourcePull.objects.filter(source=OuterRef("pk")).order_by("-at")
    pull = {f"pull_{name}": Subquery(last.values(name)[:1]) for name in PULL_FIELDS}
    rows = Source.objects.filter(is_enabled=True).exclude(kind="activity").order_by("name").annotate(**pull)
    return [
        SourceHealth(name, until, now - until if until else None, code or "", message or "", hint or "", gpus, coverage)
        for name, until, code, message, hint, gpus, coverage in rows.values_list("name", "collected_until", *pull)
    ]


def jobs_health() -> list[JobRun]:
    """Give the last run of every job and shard."""
    return list(JobRun.objects.order_by("name", "shard"))
