"""Reads of telemetry sources."""

from __future__ import annotations

from datetime import datetime

from common.errors import BadInput
from common.periods import STEP
from fleet.models import Source, SourcePull

METRIC_KINDS = ("prometheus",)


def metric_sources(name: str | None = None) -> list[int]:
    """Give the ids of the enabled sources that samples are read from, or of the one called ``name``."""
    sources = Source.objects.filter(kind__in=METRIC_KINDS).order_by("name")
    if name is None:
        return list(sources.filter(is_enabled=True).values_list("pk", flat=True))
    found = sources.filter(name=name).first()
    if found is None:
        known = ", ".join(sources.values_list("name", flat=True)) or "none"
        raise BadInput("unknown_source", f"There is no source {name!r}.", hint=f"Declared are: {known}.")
    return [found.pk]


def is_read_whole(source_id: int, mark: datetime) -> bool:
    """Say whether a complete pull has read the sample at ``mark`` already."""
    pulls = SourcePull.objects.filter(source_id=source_id, is_partial=False, error_code="")
    return pulls.filter(since__lte=mark - STEP, until__gte=mark).exists()


def all_sources() -> list[Source]:
    """Give every source, by name."""
    return list(Source.objects.order_by("name"))


def is_unread(source_id: int) -> bool:
    """Say whether nothing was ever read from a source."""
    return not SourcePull.objects.filter(source_id=source_id, error_code="").exists()
