"""Behind one source: its targets, its latest pulls, what was dropped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, F, Sum

from fleet.models import BadSample, SourcePull, Target

PULLS = 24
TARGETS = 200


@dataclass(frozen=True)
class TargetRow:
    """A scrape target; ``is_up`` None: the source has no `up` for it."""

    name: str
    is_up: bool | None
    changed_at: datetime | None
    interval_seconds: int | None
    gpus: int


def targets_of(source: str) -> list[TargetRow]:
    """Give the targets of a source, those that are down first; at most 200."""
    rows = Target.objects.filter(source__name=source).annotate(n=Count("gpus"))
    rows = rows.order_by(F("is_up").asc(nulls_last=True), "name")
    found = rows.values_list("name", "is_up", "changed_at", "interval_seconds", "n")[:TARGETS]
    return [TargetRow(*row) for row in found]


def pulls_of(source: str) -> list[dict[str, Any]]:
    """Give the latest pulls of a source, newest first."""
    rows = SourcePull.objects.filter(source__name=source).order_by("-at", "-pk")
    columns = ("at", "until", "gpus", "samples", "coverage_pct", "is_partial", "warnings", "seconds", "error_code")
    return list[Any](rows.values(*columns, "error_message", "error_hint")[:PULLS])


def dropped_of(source: str, now: datetime) -> list[dict[str, Any]]:
    """Give what was dropped within a week, by kind and signal."""
    rows = BadSample.objects.filter(source__name=source, day__gte=(now - timedelta(days=7)).date())
    return list[Any](rows.values("kind", "signal").annotate(n=Sum("count")).order_by("-n"))
