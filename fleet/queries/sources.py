"""Reads of telemetry sources."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Protocol

from django.conf import settings
from django.utils.module_loading import import_string

from common.errors import BadInput, OutsideFailed
from common.periods import STEP
from fleet.domain.telemetry import MetricsSource
from fleet.models import Source, SourcePull


class OpenSource(Protocol):
    """What `settings.METRIC_SOURCES` names for each kind. ``scripted_at``: the pretended now under --at and replay."""

    def __call__(self, spec: Mapping[str, Any], *, scripted_at: datetime | None = None) -> MetricsSource:
        """Open the source of a declaration."""


def open_source(source: Source, *, scripted_at: datetime | None = None) -> MetricsSource:
    """Open a source by its kind. Raises OutsideFailed (unknown_kind) when nobody here reads that kind."""
    path = settings.METRIC_SOURCES.get(source.kind)
    if path is None:
        known = ", ".join(settings.METRIC_SOURCES)
        raise OutsideFailed(
            "unknown_kind", f"No source of kind {source.kind} is read here.", hint=f"Kinds that are read: {known}."
        )
    opener: OpenSource = import_string(path)
    return opener(source.spec, scripted_at=scripted_at)


def metric_sources(name: str | None = None) -> list[int]:
    """Give the ids of the enabled sources that samples are read from, or of the one called ``name``."""
    sources = Source.objects.filter(kind__in=settings.METRIC_SOURCES).order_by("name")
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


def source_spec(name: str) -> Mapping[str, Any] | None:
    """Give what a source was made with; None when there is none of that name."""
    found: Mapping[str, Any] | None = Source.objects.filter(name=name).values_list("spec", flat=True).first()
    return found
