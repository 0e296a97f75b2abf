"""On which host a device stood and who held it, from the label sets of its series."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet.domain import series as labels_of
from fleet.domain.exporters import DIALECTS
from fleet.domain.runs import Run, runs_of
from fleet.domain.series import Owner
from fleet.domain.telemetry import RawSeries

_PREFERENCE = {dialect.key: place for place, dialect in enumerate(DIALECTS)}


@dataclass(frozen=True)
class TargetFacts:
    """What is known of a scrape target beside its series: its own pod label, and whether it hides owners."""

    up_pod: str = ""
    hides_owner: bool = False


UNKNOWN_TARGET = TargetFacts()


def preferred(series: Sequence[RawSeries]) -> list[RawSeries]:
    """Give the series of the exporter that is preferred among those that show the device."""
    if len(series) == 1:
        return list(series)
    best = min(_PREFERENCE[one.dialect.key] for one in series)
    return [one for one in series if _PREFERENCE[one.dialect.key] == best]


def newest(series: Sequence[RawSeries]) -> RawSeries:
    """Give the label set that was seen last."""
    return max(preferred(series), key=lambda one: one.seen[-1] if len(one.seen) else 0.0)


def host_runs(series: Sequence[RawSeries], targets: Mapping[str, TargetFacts]) -> list[Run[str]]:
    """Give the hosts of a device over time; of two at one time (two exporters) the one with more points.

    The last is open.
    """
    if len(series) == 1:
        (only,) = series
        host = labels_of.host(only.labels, targets.get(only.target, UNKNOWN_TARGET).up_pod)
        return [Run(host, float(only.seen[0]), None)] if host and len(only.seen) else []
    spans = sorted(
        (float(one.seen[0]), float(one.seen[-1]), len(one.seen), host)
        for one in preferred(series)
        if len(one.seen) and (host := labels_of.host(one.labels, targets.get(one.target, UNKNOWN_TARGET).up_pod))
    )
    kept: list[tuple[float, float, int, str]] = []
    for start, end, count, host in spans:
        if kept and host == kept[-1][3]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]), count + kept[-1][2], host)
        elif not kept or start > kept[-1][1]:
            kept.append((start, end, count, host))
        elif count > kept[-1][2]:
            kept[-1] = (kept[-1][0], max(end, kept[-1][1]), count, host)
    ends: list[float | None] = [*(span[0] for span in kept[1:]), *([None] if kept else [])]
    return [Run(host, start, end) for (start, _, _, host), end in zip(kept, ends, strict=True)]


def owner_runs(
    series: Sequence[RawSeries], targets: Mapping[str, TargetFacts], points: NDArray[np.float64], interval: float
) -> list[Run[Owner]]:
    """Give who held a device over time; ``points`` are all its distinct points, sorted."""
    seen: dict[Owner, list[NDArray[np.float64]]] = {}
    for one in series:
        facts = targets.get(one.target, UNKNOWN_TARGET)
        hidden = facts.hides_owner or labels_of.hides_owner(one.labels, facts.up_pod)
        owner = labels_of.owner(one.labels, hidden=hidden)
        if owner is not None and len(one.seen):
            seen.setdefault(owner, []).append(one.seen)
    if len(series) == 1 and points is series[0].seen:  # it was there at every point
        return [Run(owner, float(points[0]), None) for owner in seen]
    times = {owner: found[0] if len(found) == 1 else np.unique(np.concatenate(found)) for owner, found in seen.items()}
    return runs_of(points, times, interval)


def all_points(series: Sequence[RawSeries]) -> NDArray[np.float64]:
    """Give the distinct times at which a device was scraped, sorted."""
    if len(series) == 1:
        return series[0].seen
    return np.unique(np.concatenate([one.seen for one in series]))
