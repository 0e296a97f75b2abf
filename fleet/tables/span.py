"""What happened in a span, as parts of a page: the band of states, and jobs as bars on one time axis."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from common.periods import Period
from fleet.domain.states import State
from fleet.queries.ran_on import RanOn

SHORTEST_PCT = 0.4  # shorter bars could not be seen


def band_of(runs: Iterable[tuple[str, datetime, datetime | None]], period: Period) -> list[tuple[str, float]]:
    """Give (state, seconds) over ``period``, oldest first; what no verdict covers is unknown."""
    band: list[tuple[str, float]] = []
    at = period.start
    for state, begun, over in sorted(runs, key=lambda run: run[1]):
        start, end = max(begun, at), min(over or period.end, period.end)
        if end <= start:
            continue
        if start > at:
            band.append((State.UNKNOWN, (start - at).total_seconds()))
        band.append((state, (end - start).total_seconds()))
        at = end
    if at < period.end:
        band.append((State.UNKNOWN, (period.end - at).total_seconds()))
    return band


@dataclass(frozen=True)
class JobBar:
    """A job as a bar: ``left`` and ``width`` in percent of the span."""

    name: str
    path: str
    owner: str
    team: str
    gpus: int
    start: datetime
    end: datetime | None
    lasted: timedelta
    left: str
    width: str


def job_bars(jobs: Iterable[RanOn], period: Period, team_names: Mapping[int, str]) -> list[JobBar]:
    """Make bars of jobs within ``period``, the newest first."""
    whole = (period.end - period.start).total_seconds()
    bars = []
    for job in jobs:
        start, end = max(job.start, period.start), min(job.end or period.end, period.end)
        left = 100 * (start - period.start).total_seconds() / whole
        width = max(100 * (end - start).total_seconds() / whole, SHORTEST_PCT)
        bars.append(
            JobBar(
                job.name, job.path, job.owner, team_names.get(job.team_id or 0) or _("Unassigned"), job.gpus, job.start,
                job.end, (job.end or period.end) - job.start, f"{min(left, 100 - SHORTEST_PCT):.2f}", f"{width:.2f}",
            )
        )  # fmt: skip
    return bars
