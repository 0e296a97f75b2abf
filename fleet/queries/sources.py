"""Reads of telemetry sources."""

from __future__ import annotations

from common.errors import BadInput
from fleet.models import Source

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
