"""A source on a real Prometheus, filled with a history of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from fleet.actions.collect import PullResult, backfill_source, collect_source
from fleet.domain.samples import SampleBlock
from fleet.domain.signals import Signal
from fleet.models import Gpu, GpuUse, Source
from fleet.queries.samples import load_block
from tests.support.gpu_history import History
from tests.support.prometheus import PrometheusStarter

T0 = 1748944800  # 2025-06-03T10:00:00Z


def at(seconds: float) -> datetime:
    """Give the time so many seconds after 10:00."""
    return datetime.fromtimestamp(T0 + seconds, UTC)


@dataclass
class Fleet:
    """One source and what was read from it."""

    source: Source

    def backfill(self, since: float, until: float) -> PullResult:
        return backfill_source(self.source.pk, since=at(since), until=at(until), now=at(until))

    def collect(self, now: float) -> PullResult:
        return collect_source(self.source.pk, now=at(now))

    def gpus(self) -> list[Gpu]:
        return list(Gpu.objects.order_by("uuid", "mig_instance"))

    def block(self, since: float, until: float) -> SampleBlock:
        return load_block([gpu.pk for gpu in self.gpus()], at(since), at(until))

    def means(self, since: float, until: float, signal: Signal = Signal.GPU_UTIL) -> list[list[float | None]]:
        table = self.block(since, until).mean[signal]
        return [[None if np.isnan(value) else round(float(value), 2) for value in row] for row in table]

    def uses(self) -> list[tuple[str, float, float | None]]:
        rows = GpuUse.objects.select_related("job").order_by("gpu__uuid", "start")
        return [
            (use.job.external_id, use.start.timestamp() - T0, use.end.timestamp() - T0 if use.end else None)
            for use in rows
        ]


@pytest.fixture
def fleet_of(prometheus: PrometheusStarter, db: None) -> Callable[..., Fleet]:
    """Give the fleet of a history."""

    def make(history: History, **spec: Any) -> Fleet:
        url = prometheus.backfilled(history.text())
        source, _ = Source.objects.update_or_create(
            name="main", defaults={"kind": "prometheus", "spec": {"url": url, **spec}}
        )
        return Fleet(source)

    return make
