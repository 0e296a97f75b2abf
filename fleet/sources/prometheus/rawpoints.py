"""Raw points of a shard: they time the samples, carry the labels, and mend the means that garbage has spoilt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from fleet.domain.exporters import METRICS, TIMING_ORDER, Metric
from fleet.domain.plausible import keep_plausible
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.series import lower_names, target_name
from fleet.domain.signals import Signal
from fleet.domain.telemetry import RawSeries, Shard, Span
from fleet.sources.prometheus.answers import Floats64, Ints, Series
from fleet.sources.prometheus.grid import Grid
from fleet.sources.prometheus.promql import Queries

NAMED_PER_QUERY, NAMED_AT_MOST = 60, 600
"""Devices named in one query, and in all of them; for more the whole shard is read and filtered here."""
DAY_SECONDS = 86_400

_Found = tuple[Metric, dict[str, str], list[Floats64], list[Floats64]]  # labels, valid times, all times
Bad = Counter[tuple[str, str, int]]  # (kind, signal, day as epoch days)
Fetch = Callable[[list[tuple[str, float]]], Iterator[Series]]


@dataclass(frozen=True)
class Ask:
    """What is read: a span of a shard, in raw answers of at most ``raw_seconds``."""

    span: Span
    shard: Shard
    raw_seconds: float


class RawPoints:
    """Reads raw points through ``fetch`` (queries with their evaluation times, answers in order)."""

    def __init__(self, grid: Grid, queries: Queries, fetch: Fetch, ask: Ask, bad: Bad) -> None:
        self.grid, self.queries, self.fetch, self.ask, self.bad = grid, queries, fetch, ask, bad
        self._found: dict[tuple[int, bytes], _Found] = {}
        self._timed: set[str] = set()  # names whose raw points were read for every device

    @property
    def series(self) -> list[RawSeries]:
        """Every label set seen, with its times."""
        return [
            RawSeries(row, metric.dialect, lower_names(labels), target_name(labels), _joined(valid), _joined(seen))
            for (row, _), (metric, labels, valid, seen) in self._found.items()
        ]

    def read_timing(self, group: Sequence[Metric]) -> None:
        """Read the points of a group of names for every device of the shard."""
        for metric in group:
            self._timed.add(metric.name)
        for metric, result in self._read(group, self.ask.span.raw_since, self.ask.span.last):
            self._add(metric, result, None)

    def add_missing_timing(self, metrics: Sequence[Metric]) -> None:
        """Time the samples that have data but no valid point of the first choice: MIG slices, blanks, lost series."""
        have = self.count_points() > 0
        for signal in TIMING_ORDER:
            if signal not in self.grid.signals or (have.all() and len(have) == len(self.grid.identities)):
                continue
            mean, _, filler, _ = self.grid.table(signal)
            unknown = np.ones(len(filler), dtype=bool)
            unknown[[row for row, _ in self._found]] = False
            untimed = np.ones(len(filler), dtype=bool)
            untimed[[row for (row, _), (_, _, valid, _) in self._found.items() if any(map(len, valid))]] = False
            need = ~have & (filler >= 0) & (~np.isnan(mean) | unknown[:, None])
            for number in np.unique(filler[need]):
                first = METRICS[number]
                group = [m for m in metrics if (m.dialect, m.means, m.rank) == (first.dialect, first.means, first.rank)]
                if group[0].name in self._timed:
                    continue
                rows = np.flatnonzero((need & (filler == number)).any(axis=1))
                for metric, result in self._read(group, self.ask.span.raw_since, self.ask.span.last, rows):
                    self._add(metric, result, _Only(rows, have, untimed))
                have = self.count_points() > 0

    def repair(self, metrics: Sequence[Metric]) -> None:
        """Compute the suspect cells again from raw points, each of them filtered."""
        for signal in self.grid.signals:
            mean, peak, filler, suspect = self.grid.table(signal)
            for number in np.unique(filler[suspect]):
                first = METRICS[number]
                group = [m for m in metrics if (m.dialect, m.means, m.rank) == (first.dialect, first.means, first.rank)]
                cells = suspect & (filler == number)
                columns = np.flatnonzero(cells.any(axis=0))
                since, until = self.grid.marks[columns[0]] - STEP_SECONDS, self.grid.marks[columns[-1]]
                rows = np.flatnonzero(cells.any(axis=1))
                mean[cells], peak[cells] = np.nan, np.nan
                work = _Repair(self.grid, signal, cells, first)
                work.count_after = self.ask.span.count_after
                for metric, result in self._read(group, float(since), float(until), rows):
                    work.take(result, metric)
                work.write(mean, peak, self.bad)

    def _read(
        self, group: Sequence[Metric], since: float, until: float, rows: Ints | None = None
    ) -> Iterator[tuple[Metric, Series]]:
        """Read raw points in ``(since, until]``, of ``rows`` only when given, in pieces that stay small."""
        asked: list[tuple[Metric, str, float]] = []
        for metric in group:
            for only in self._names(metric, rows):
                end = until
                while end > since:
                    start = max(since, end - self.ask.raw_seconds)
                    asked.append((metric, self.queries.raw(metric, end - start, self.ask.shard, only), end))
                    end = start
        answers = self.fetch([(text, at) for _, text, at in asked])
        for (metric, _, _), result in zip(asked, answers, strict=True):
            yield metric, result

    def _names(self, metric: Metric, rows: Ints | None) -> list[list[str]]:
        text = self.grid.raw_text.get(metric.dialect.key, {})
        if (
            rows is None
            or len(rows) > NAMED_AT_MOST
            or metric.dialect.joined_identity
            or len(metric.dialect.identity) > 1
        ):
            return [[]]
        named = sorted({text[int(row)] for row in rows if int(row) in text})
        return [named[i : i + NAMED_PER_QUERY] for i in range(0, len(named), NAMED_PER_QUERY)]

    def _add(self, metric: Metric, series: Series, only: _Only | None) -> None:
        """Keep the times and labels of an answer's series; the values only say which points are valid."""
        assert isinstance(metric.means, Signal)
        lines = self.grid.lines_of(series, metric.dialect)
        self.grid.grow()
        valid = ~np.isnan(keep_plausible(series.value, metric.means, metric.scale).values)
        is_all_valid, end = bool(valid.all()), 0
        for line, length in zip(lines, series.length.tolist(), strict=True):
            begin, end = end, end + length
            at = series.at[begin:end]
            if line.row < 0:
                self._count_nameless(metric, at)
                continue
            if only is not None and not only.takes(line.row):
                continue
            good = at if is_all_valid else at[valid[begin:end]]
            if only is not None:
                good = good[only.wanted(line.row, self.grid.columns(good))]
            key = orjson.dumps(line.labels, option=orjson.OPT_SORT_KEYS)  # labels may be written in two ways
            found = self._found.setdefault((line.row, key), (metric, line.labels, [], []))
            found[2].append(good)
            found[3].append(at)

    def _count_nameless(self, metric: Metric, at: Floats64) -> None:
        inside = at[at > max(self.ask.span.first - STEP_SECONDS, self.ask.span.count_after)]
        for day in ((inside - 1e-3) // DAY_SECONDS).astype(int):
            self.bad[("no_identity", str(metric.means), int(day))] += 1

    def count_points(self) -> NDArray[np.int32]:
        """Count the valid points of each sample, [rows, marks]; a time that two label sets share may count twice."""
        shape = (len(self.grid.identities), len(self.grid.marks))
        parts = [(row, at) for (row, _), (_, _, valid, _) in self._found.items() for at in valid]
        if not parts:
            return np.zeros(shape, dtype=np.int32)
        row = np.repeat([row for row, _ in parts], [len(at) for _, at in parts])
        column = self.grid.columns(np.concatenate([at for _, at in parts]))
        inside = (column >= 0) & (column < shape[1])
        count = np.bincount(row[inside] * shape[1] + column[inside], minlength=shape[0] * shape[1])
        return count.reshape(shape).astype(np.int32)


class _Only:
    """Which points of a second choice are wanted.

    Of cells that lack points, and earlier ones of devices without any valid point yet: the first one inside stands for
    the time back to them.
    """

    def __init__(self, rows: Ints, have: NDArray[np.bool_], untimed: NDArray[np.bool_]) -> None:
        self._rows, self._have, self._untimed = set(rows.tolist()), have, untimed

    def takes(self, row: int) -> bool:
        return row in self._rows

    def wanted(self, row: int, columns: Ints) -> NDArray[np.bool_]:
        inside = (columns >= 0) & (columns < self._have.shape[1])
        free = ~self._have[row, np.clip(columns, 0, self._have.shape[1] - 1)]
        wanted: NDArray[np.bool_] = (inside & free) | (~inside & bool(self._untimed[row]))
        return wanted


class _Repair:
    """Collects the raw points of suspect cells and computes their mean and peak."""

    def __init__(self, grid: Grid, signal: Signal, cells: NDArray[np.bool_], metric: Metric) -> None:
        self._grid, self._signal, self._cells, self._is_summed = grid, signal, cells, metric.is_summed
        self.count_after = 0.0
        self._splits: dict[str, int] = {}
        self._parts: list[tuple[Ints, Ints, Floats64, Floats64, Floats64]] = []  # row, split, at, raw value, scale

    def take(self, series: Series, metric: Metric) -> None:
        """Keep the points of suspect cells."""
        lines = self._grid.lines_of(series, metric.dialect)
        rows = np.array([line.row for line in lines], dtype=np.int64)
        splits = np.array([self._split(line.labels, metric) for line in lines], dtype=np.int64)
        row, split = np.repeat(rows, series.length), np.repeat(splits, series.length)
        column = self._grid.columns(series.at)
        usable = (row >= 0) & (row < self._cells.shape[0]) & (column >= 0) & (column < self._cells.shape[1])
        usable[usable] = self._cells[row[usable], column[usable]]
        scale = np.full(int(usable.sum()), metric.scale)
        self._parts.append((row[usable], split[usable], series.at[usable], series.value[usable], scale))

    def _split(self, labels: dict[str, str], metric: Metric) -> int:
        """Number the sharers; 0 stands for the whole device."""
        value = labels.get(metric.dialect.split, "") if metric.dialect.split else ""
        is_whole = value in ("", metric.dialect.split_wins) and not self._is_summed
        return 0 if is_whole else self._splits.setdefault(value, len(self._splits) + 1)

    def write(self, mean: NDArray[Any], peak: NDArray[Any], bad: Bad) -> None:
        """Write what the valid points say; a cell without any stays NaN."""
        if not self._parts:
            return
        row, split, at, value, scale = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        order = np.lexsort((at, split, row))
        row, split, at, value, scale = row[order], split[order], at[order], value[order], scale[order]
        fresh = np.ones(len(row), dtype=bool)
        fresh[1:] = (row[1:] != row[:-1]) | (split[1:] != split[:-1]) | (at[1:] - at[:-1] > 5e-4)
        row, split, at, value, scale = row[fresh], split[fresh], at[fresh], value[fresh], scale[fresh]
        kept = np.empty(len(value))
        for factor in np.unique(scale):
            same = scale == factor
            kept[same] = self._filter(value[same], at[same], float(factor), bad)
        good = ~np.isnan(kept)
        self._combine((split[good], row[good], self._grid.columns(at[good])), kept[good], mean, peak)

    def _filter(self, value: Floats64, at: Floats64, scale: float, bad: Bad) -> Floats64:
        kept = np.empty(len(value))
        days = ((at - 1e-3) // DAY_SECONDS).astype(int)
        for day in np.unique(days):
            filtered = keep_plausible(value[days == day], self._signal, scale)
            kept[days == day] = filtered.values
            counted = keep_plausible(value[(days == day) & (at > self.count_after)], self._signal, scale)
            for kind, count in counted.counts.items():
                bad[(kind, str(self._signal), int(day))] += count
        return kept

    def _combine(self, cell: tuple[Ints, Ints, Ints], kept: Floats64, mean: NDArray[Any], peak: NDArray[Any]) -> None:
        """Combine points at ``cell`` (sharer, row, column): the whole device wins, else the greatest or the sum."""
        shape = (len(self._splits) + 1, *self._cells.shape)
        sums, counts, peaks = np.zeros(shape), np.zeros(shape), np.full(shape, -np.inf)
        np.add.at(sums, cell, kept)
        np.add.at(counts, cell, 1)
        np.maximum.at(peaks, cell, kept)
        with np.errstate(invalid="ignore", divide="ignore"):
            means = sums / counts
        peaks[counts == 0] = np.nan
        for target, table in ((mean, means), (peak, peaks)):
            parts = table[1:]
            with np.errstate(all="ignore"):
                combined = (
                    np.nansum(parts, axis=0) if self._is_summed else np.fmax.reduce(parts, axis=0, initial=np.nan)
                )
            combined = np.where((counts[1:] > 0).any(axis=0), combined, np.nan)
            whole = np.where(counts[0] > 0, table[0], combined)
            write = self._cells & ~np.isnan(whole)
            target[write] = whole[write]


def _joined(parts: list[Floats64]) -> Floats64:
    """Join pieces read newest first; drop nothing."""
    return parts[0] if len(parts) == 1 else np.sort(np.concatenate(parts))
