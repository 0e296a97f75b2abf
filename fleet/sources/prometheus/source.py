"""The adapter: a Prometheus as `fleet.domain.telemetry.MetricsSource`."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.periods import iso
from fleet.domain.exporters import DIALECTS, TIMING_ORDER, Metric, known_metrics
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.series import Identity, lower_names, target_name
from fleet.domain.signals import Signal
from fleet.domain.telemetry import Reading, Shard, Span, UpState
from fleet.sources.prometheus.access import access_of
from fleet.sources.prometheus.answers import Floats64
from fleet.sources.prometheus.client import PrometheusClient
from fleet.sources.prometheus.promql import Queries, quoted
from fleet.sources.prometheus.rawpoints import Ask
from fleet.sources.prometheus.reader import ShardReader


class PrometheusSource:
    """Reads one source. ``raw_seconds``: how much raw data one query may cover, set by who knows the fleet's size."""

    def __init__(self, client: PrometheusClient, selector: str = "") -> None:
        self.client, self.queries = client, Queries(selector)
        self.raw_seconds = 86_400.0
        self._names: tuple[float, float, set[str]] | None = None

    def close(self) -> None:
        """Give the connections back."""
        self.client.close()

    def names(self, first: float, last: float) -> set[str]:
        """Give the metric names of a time range; asked once per range."""
        if self._names is None or not (self._names[0] <= first and last <= self._names[1]):
            self._names = (first, last, self.client.metric_names(first, last))
        return self._names[2]

    def timing_metrics(self, names: set[str]) -> list[Metric]:
        """Give the metric by which each dialect's devices are counted and timed."""
        found: list[Metric] = []
        metrics = known_metrics(names)
        for dialect in DIALECTS:
            own = [
                m for signal in TIMING_ORDER for m in metrics if (m.dialect, m.means, m.rank) == (dialect, signal, 0)
            ]
            found += [metric for metric in own if metric.means is own[0].means]
        return found

    def count_series(self, at: int) -> int:
        """Count the series of one metric per exporter in the sample at a mark, to plan shards."""
        names = self.names(at - STEP_SECONDS, at)
        total = 0
        for metric in self.timing_metrics(names):
            found = [self._count(one, at) for one in (metric, _engine_of(metric, names)) if one is not None]
            total += max(found)
        return total

    def _count(self, metric: Metric, at: int) -> int:
        value = self.client.query(self.queries.count(metric), at).series().value
        return int(value[0]) if len(value) else 0

    def count_points(self, marks: NDArray[np.int64], shard: Shard) -> tuple[list[Identity], NDArray[np.int32]]:
        """Count raw points per device and mark; see MetricsSource."""
        first, last = int(marks[0]), int(marks[-1])
        names = self.names(first - STEP_SECONDS, last)
        return ShardReader(self.client, self.queries, names, Ask(Span(first, last, first), shard, 0)).count_points()

    def read(self, span: Span, shard: Shard, *, with_facts: bool) -> Reading:
        """Read samples and raw points of a shard; see MetricsSource."""
        names = self.names(span.raw_since, span.last)
        reader = ShardReader(self.client, self.queries, names, Ask(span, shard, self.raw_seconds))
        return reader.read(with_facts=with_facts)

    def read_up(self, jobs: set[str], span: Span) -> list[UpState]:
        """Read `up` of every target of the jobs at every mark; give its last state and since when it is so."""
        names = sorted(jobs)
        found: list[UpState] = []
        for i in range(0, len(names), 100):
            body = self.client.query_range(self.queries.up(names[i : i + 100]), span.first, span.last, STEP_SECONDS)
            series = body.series()
            found += [_up_state(series.labels(key), at, value) for key, at, value in series.each() if len(at)]
        return found

    def read_gaps(self, targets: list[str], at: int) -> dict[str, list[NDArray[np.float64]]]:
        """Read the times of raw points of the last 24 hours of a few targets, to learn their interval."""
        found: dict[str, list[NDArray[np.float64]]] = {}
        for metric in self.timing_metrics(self.names(at - 86_400, at)):
            for target in targets:
                job, _, instance = target.partition("/")
                matchers = [self.queries.selector, metric.matcher, f"job={quoted(job)}", f"instance={quoted(instance)}"]
                chosen = f"{metric.name}{{{','.join(m for m in matchers if m)}}}"
                series = self.client.query(f"{chosen}[24h]", at).series().each()
                found.setdefault(target, []).extend(times for _, times, _ in islice(series, 4))
        return found


def _engine_of(metric: Metric, names: set[str]) -> Metric | None:
    """Give the engine metric of a dialect whose utilisation is silent on MIG slices."""
    if metric.means is not Signal.GPU_UTIL or not metric.dialect.mig:
        return None
    engines = [m for m in known_metrics(names) if m.dialect is metric.dialect and m.means is Signal.GR_ENGINE]
    return engines[0] if engines else None


def _up_state(labels: dict[str, str], at: Floats64, value: Floats64) -> UpState:
    is_up = value >= 0.5
    changes = np.flatnonzero(is_up[1:] != is_up[:-1])
    since = at[changes[-1] + 1] if len(changes) else at[0]
    return UpState(target_name(labels), bool(is_up[-1]), float(since), lower_names(labels))


def open_source(spec: Mapping[str, Any], *, scripted_at: datetime | None = None) -> PrometheusSource:
    """Open the source of a declaration. ``scripted_at``: the pretended now, told to the source in `Fleetledger-At`."""
    headers = {"Fleetledger-At": iso(scripted_at)} if scripted_at else {}
    is_public = bool(spec.get("public_only"))
    client = PrometheusClient(
        str(spec.get("url", "")), access_of(spec.get("auth")), headers=headers, public_only=is_public
    )
    return PrometheusSource(client, str(spec.get("selector") or ""))
