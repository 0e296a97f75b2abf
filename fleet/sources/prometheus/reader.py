"""Reads a shard of a source into a `Reading`: means and peaks by aggregated queries, timing and labels by raw ones."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fleet.domain.exporters import DIALECTS, METRICS, TIMING_ORDER, Attribute, Metric, known_metrics
from fleet.domain.plausible import limits
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.series import Identity, lower_names
from fleet.domain.signals import Signal
from fleet.domain.telemetry import Reading
from fleet.sources.prometheus.answers import Body, Floats64, Series
from fleet.sources.prometheus.client import PrometheusClient
from fleet.sources.prometheus.grid import Grid
from fleet.sources.prometheus.promql import Queries
from fleet.sources.prometheus.rawpoints import Ask, RawPoints

METRIC_NUMBER = {metric: number for number, metric in enumerate(METRICS)}
Flags = NDArray[np.bool_]
FETCHES = 2  # at a time: the source's CPUs are not ours
QUEUED = 2  # more that wait for their turn, so that the source has something to do while an answer is read


@dataclass
class Notes:
    """What answers said beside their data."""

    warnings: list[str]
    is_partial: bool = False

    def take(self, body: Body) -> Series:
        """Note warnings; give the series. `infos` are advice, not loss."""
        self.warnings += [text for text in body.warnings if text not in self.warnings]
        if body.warnings or body.is_partial:
            self.is_partial = True
        return body.series()


class ShardReader:
    """Reads one shard over one span."""

    def __init__(self, client: PrometheusClient, queries: Queries, names: set[str], ask: Ask) -> None:
        self.client, self.queries, self.span, self.shard = client, queries, ask.span, ask.shard
        self.names, self.metrics = names, known_metrics(names)
        self.grid = Grid(np.arange(ask.span.first, ask.span.last + 1, STEP_SECONDS, dtype=np.int64))
        self.notes = Notes([])
        self.bad: Counter[tuple[str, str, int]] = Counter()
        self._pool = ThreadPoolExecutor(FETCHES)
        self.raw = RawPoints(self.grid, queries, self._fetch_raw, ask, self.bad)

    def count_points(self) -> tuple[list[Identity], NDArray[np.int32]]:
        """Count the raw points of the metrics that time the samples, as the source counts them."""
        groups = self._timing_groups()
        counts: list[Floats64] = []
        with self._fetching():
            answers = self._fetch_ranges([self.queries.points(metric, self.shard) for metric in groups])
            for metric, result in zip(groups, answers, strict=True):
                counts.append(np.nan_to_num(self.grid.lay(result, metric)[0]))
        total = np.zeros((len(self.grid.identities), len(self.grid.marks)), dtype=np.int32)
        for count in counts:
            total[: len(count)] += count.astype(np.int32)
        return self.grid.identities, total

    def read(self, *, with_facts: bool) -> Reading:
        """Ask everything; give the reading."""
        with self._fetching():
            return self._read(with_facts=with_facts)

    @contextmanager
    def _fetching(self) -> Iterator[None]:
        """Fetch at most FETCHES answers at a time; what is asked in vain is not waited for."""
        try:
            yield
        finally:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _read(self, *, with_facts: bool) -> Reading:
        asked = self._signal_queries()
        answers = self._fetch_ranges([text for _, _, text in asked])  # the first of them come while points are read
        self._read_timing()
        for (metric, kind, _), result in zip(asked, answers, strict=True):
            values, has = self.grid.lay(result, metric)
            lay_signal(self.grid, metric, kind, values, has)
        self.raw.repair(self.metrics)
        self.raw.add_missing_timing(self.metrics)
        reading = Reading(
            marks=self.grid.marks,
            identities=self.grid.identities,
            mean={},
            peak={},
            series=self.raw.series,
            bad=self.bad,
        )
        if with_facts and not self.notes.is_partial:
            self._read_facts(reading)
        self._read_info(reading)
        if not self.notes.is_partial:  # what a partial answer left out may be the one busy signal: no value is told
            for signal in self.grid.signals:
                reading.mean[signal], reading.peak[signal] = self.grid.table(signal)[:2]
        reading.warnings, reading.is_partial = self.notes.warnings, self.notes.is_partial
        return reading

    def _timing_groups(self) -> list[Metric]:
        """Give the first metric in TIMING_ORDER that each dialect has, under all its names."""
        found: list[Metric] = []
        for dialect in DIALECTS:
            own = [
                m for means in TIMING_ORDER for m in self.metrics if (m.dialect, m.means, m.rank) == (dialect, means, 0)
            ]
            found += [metric for metric in own if metric.means is own[0].means]
        return found

    def _read_timing(self) -> None:
        """Read the raw points of the timing metrics."""
        for metric in self._timing_groups():
            self.raw.read_timing([metric])

    def _signal_queries(self) -> list[tuple[Metric, str, str]]:
        """Give what is asked of each signal: (metric, kind, query)."""
        metrics = [metric for metric in self.metrics if isinstance(metric.means, Signal)]
        asked: list[tuple[Metric, str, str]] = []
        for metric in metrics:
            asked += [
                (metric, "mean", self.queries.mean(metric, self.shard)),
                (metric, "peak", self.queries.peak(metric, self.shard)),
                (metric, "low", self.queries.too_low(metric, self.shard)),
            ]
        return asked

    def _fetch_ranges(self, texts: list[str]) -> Iterator[Series]:
        """Ask range queries; the answers come in order and are taken one by one."""
        first, last = int(self.grid.marks[0]), int(self.grid.marks[-1])

        def ask(text: str) -> Callable[[], Body]:
            if first == last:
                return lambda: self.client.query(text, last)
            return lambda: self.client.query_range(text, first, last, STEP_SECONDS)

        return self._in_order([ask(text) for text in texts])

    def _fetch_raw(self, asked: list[tuple[str, float]]) -> Iterator[Series]:
        """Ask raw queries (text, evaluation time), in order."""

        def ask(text: str, at: float) -> Callable[[], Body]:
            return lambda: self.client.query(text, at)

        return self._in_order([ask(text, at) for text, at in asked])

    def _in_order(self, calls: list[Callable[[], Body]]) -> Iterator[Series]:
        """Begin to fetch at once; give the answers in order, each read when it is taken."""
        left = deque(calls)
        waiting = deque(self._pool.submit(left.popleft()) for _ in range(min(len(left), FETCHES + QUEUED)))

        def answers() -> Iterator[Series]:
            while waiting:
                body = waiting.popleft().result()
                if left:
                    waiting.append(self._pool.submit(left.popleft()))
                yield self.notes.take(body)

        return answers()

    def _read_facts(self, reading: Reading) -> None:
        """Read memory and power limits at the last mark."""
        found: dict[Attribute, dict[int, float]] = {attribute: {} for attribute in Attribute}
        metrics = [metric for metric in self.metrics if isinstance(metric.means, Attribute)]
        answers = self._fetch_raw(
            [(self.queries.mean(metric, self.shard), float(self.span.last)) for metric in metrics]
        )
        for metric, result in zip(metrics, answers, strict=True):
            values, has = self.grid.lay(result, metric)
            column = len(self.grid.marks) - 1
            for row in map(int, np.flatnonzero(has[:, column])):
                value = float(values[row, column]) * metric.scale
                if 0 <= value < 1_500_000:
                    assert isinstance(metric.means, Attribute)
                    found[metric.means].setdefault(row, value)
        used = self.grid.table(Signal.MEMORY_MIB)[0][:, -1]
        free, reserved = found[Attribute.MEMORY_FREE_MIB], found[Attribute.MEMORY_RESERVED_MIB]
        for row, value in free.items():
            if not np.isnan(used[row]):
                reading.memory_total_mib[row] = float(used[row]) + value + reserved.get(row, 0)
        reading.memory_total_mib.update(
            {row: value for row, value in found[Attribute.MEMORY_TOTAL_MIB].items() if value > 0}
        )
        limit = found[Attribute.POWER_LIMIT_WATTS]
        reading.power_limit_watts.update({row: value for row, value in limit.items() if 0 < value <= 3000})

    def _read_info(self, reading: Reading) -> None:
        """Read series whose labels hold model and index (nvidia_gpu_exporter)."""
        for dialect in DIALECTS:
            if not dialect.info or dialect.info not in self.names:
                continue
            seconds = self.span.last - self.span.first + STEP_SECONDS
            metric = Metric(dialect.info, dialect, Attribute.MEMORY_TOTAL_MIB)
            text = f"last_over_time({self.queries.raw(metric, seconds, self.shard)})"
            for series in self._fetch_raw([(text, float(self.span.last))]):
                for line in self.grid.lines_of(series, dialect):
                    if line.row >= 0:
                        reading.info[line.row] = lower_names(line.labels)
        self.grid.grow()


def lay_signal(grid: Grid, metric: Metric, kind: str, values: Floats64, has: Flags) -> None:
    """Put one aggregated answer into its signal's table; cells that need a look at their raw points become suspect."""
    assert isinstance(metric.means, Signal)
    number = METRIC_NUMBER[metric]
    mean, peak, filler, suspect = grid.table(metric.means)
    if kind == "low":
        suspect |= has & (filler == number)
        return
    if kind == "mean":
        free = has & (filler < 0)
        taken = has & (filler >= 0)
        if taken.any():  # two names of one quantity in one sample: an upgrade renamed it meanwhile
            numbers = [METRIC_NUMBER[other] for other in group_of(metric)]
            suspect |= taken & np.isin(filler, numbers)
        filler[free] = number
        mean[free] = (values[free] * metric.scale).astype(np.float32)
        suspect |= free & ~np.isfinite(values)
        return
    own = has & (filler == number)
    _, high = limits(metric.means, metric.scale)
    peak[own] = (values[own] * metric.scale).astype(np.float32)
    suspect |= own & ~(values <= high)


def group_of(metric: Metric) -> list[Metric]:
    """Give the rows of the table that are the same quantity of the same exporter under its names."""
    return [m for m in METRIC_NUMBER if (m.dialect, m.means, m.rank) == (metric.dialect, metric.means, metric.rank)]
