"""The grid that answers are laid on: rows are devices, columns are marks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from fleet.domain.exporters import Dialect, Metric
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.series import Identity, identify, identity_text
from fleet.domain.signals import Signal
from fleet.domain.telemetry import Matrix

NOBODY = -1
Scalar = TypeVar("Scalar", bound=np.generic)
Ints = NDArray[np.int64]
Floats64 = NDArray[np.float64]


@dataclass(frozen=True)
class Flat:
    """The points of a matrix answer, series after series: ``length`` per series, ``at`` epoch seconds, ``value``."""

    length: Ints
    at: Floats64
    value: Floats64


def flatten(result: Sequence[dict[str, Any]]) -> Flat:
    """Turn series of a matrix (or vector) answer into arrays; native histograms carry no values and are left out."""
    if result and all("value" in series for series in result):
        ones = np.ones(len(result), dtype=np.int64)
        times = np.full(len(result), float(result[0]["value"][0]))
        return Flat(ones, times, np.array([float(series["value"][1]) for series in result]))
    values = [series.get("values") or ([series["value"]] if "value" in series else []) for series in result]
    length = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
    total = int(length.sum())
    points = list(chain.from_iterable(values))
    at = np.fromiter((point[0] for point in points), dtype=np.float64, count=total)
    value = np.fromiter((float(point[1]) for point in points), dtype=np.float64, count=total)
    return Flat(length, at, value)


class Grid:
    """Means and peaks [rows, marks] per signal, which metric filled each cell, and which cells hold garbage."""

    def __init__(self, marks: Ints) -> None:
        self.marks = marks
        self.identities: list[Identity] = []
        self.raw_text: dict[str, dict[int, str]] = {}  # dialect -> row -> the identifying label as the source writes it
        self._rows: dict[Identity, int] = {}
        self._by_text: dict[tuple[str, str, str], int | None] = {}
        self._mean: dict[Signal, Matrix] = {}
        self._peak: dict[Signal, Matrix] = {}
        self._filler: dict[Signal, NDArray[np.int16]] = {}
        self._suspect: dict[Signal, NDArray[np.bool_]] = {}
        self._capacity = 0

    def row_of(self, labels: dict[str, str], dialect: Dialect) -> int | None:
        """Give the row of a series' device, a new one if need be; None for a series without a device."""
        text = identity_text(labels, dialect)
        key = (dialect.key, text, labels.get(dialect.mig, "") if dialect.mig else "")
        if key not in self._by_text:
            identity = identify(labels, dialect)
            row = None
            if identity is not None:
                row = self._rows.setdefault(identity, len(self._rows))
                if row == len(self.identities):
                    self.identities.append(identity)
                if not dialect.joined_identity:
                    self.raw_text.setdefault(dialect.key, {})[row] = text
            self._by_text[key] = row
        return self._by_text[key]

    def rows_of(self, result: Iterable[dict[str, Any]], dialect: Dialect) -> Ints:
        """Give the rows of the series of an answer; NOBODY for those without a device."""
        rows = [self.row_of(series["metric"], dialect) for series in result]
        return np.array([NOBODY if row is None else row for row in rows], dtype=np.int64)

    def columns(self, at: Floats64) -> Ints:
        """Give the column of the sample that holds each time; outside of the grid: negative or beyond."""
        columns: Ints = np.ceil((at - self.marks[0]) / STEP_SECONDS - 1e-9).astype(np.int64)
        return columns

    def lay(self, result: Sequence[dict[str, Any]], metric: Metric) -> tuple[Floats64, NDArray[np.bool_]]:
        """Lay an aggregated answer on the grid: (values, which cells it has), [rows, marks].

        Of series of one device, the one that stands for the whole device wins; else the greatest counts, or for what
        is spread over partitions the sum.
        """
        rows, flat = self.rows_of(result, metric.dialect), flatten(result)
        row, win = np.repeat(rows, flat.length), np.repeat(self._wholes(result, metric), flat.length)
        column = self.columns(flat.at)
        usable = (row >= 0) & (column >= 0) & (column < len(self.marks))
        shape = (len(self.identities), len(self.marks))
        whole, part = np.full(shape, np.nan), np.full(shape, np.nan)
        has = np.zeros(shape, dtype=bool)
        has[row[usable], column[usable]] = True
        pick = usable & win
        np.fmax.at(whole, (row[pick], column[pick]), flat.value[pick])
        pick = usable & ~win
        if metric.is_summed:
            part[row[pick], column[pick]] = 0
            np.add.at(part, (row[pick], column[pick]), flat.value[pick])
        elif pick.any():
            np.fmax.at(part, (row[pick], column[pick]), flat.value[pick])
        return np.where(np.isnan(whole), part, whole), has

    @staticmethod
    def _wholes(result: Sequence[dict[str, Any]], metric: Metric) -> NDArray[np.bool_]:
        """Say which series stand for the whole device; a part of a sum never does."""
        split, wins = metric.dialect.split, ("", metric.dialect.split_wins)
        if metric.is_summed and split:
            return np.zeros(len(result), dtype=bool)
        if not split:
            return np.ones(len(result), dtype=bool)
        return np.array([series["metric"].get(split, "") in wins for series in result], dtype=bool)

    def grow(self) -> None:
        """Make room for devices that answers have named since."""
        need = len(self.identities)
        if need <= self._capacity:
            return
        self._capacity = max(need, 2 * self._capacity, 16)
        for signal in self._mean:
            self._mean[signal] = self._enlarged(self._mean[signal], np.nan)
            self._peak[signal] = self._enlarged(self._peak[signal], np.nan)
            self._filler[signal] = self._enlarged(self._filler[signal], NOBODY)
            self._suspect[signal] = self._enlarged(self._suspect[signal], False)

    def _enlarged(self, old: NDArray[Scalar], empty: float) -> NDArray[Scalar]:
        new = np.full((self._capacity, len(self.marks)), empty, dtype=old.dtype)
        new[: len(old)] = old
        return new

    def table(self, signal: Signal) -> tuple[Matrix, Matrix, NDArray[np.int16], NDArray[np.bool_]]:
        """Give (mean, peak, filler, suspect) of a signal, [rows, marks], to be read and written in place."""
        self.grow()
        if signal not in self._mean:
            shape = (self._capacity, len(self.marks))
            self._mean[signal] = np.full(shape, np.nan, dtype=np.float32)
            self._peak[signal] = np.full(shape, np.nan, dtype=np.float32)
            self._filler[signal] = np.full(shape, NOBODY, dtype=np.int16)
            self._suspect[signal] = np.zeros(shape, dtype=bool)
        size = len(self.identities)
        return (
            self._mean[signal][:size],
            self._peak[signal][:size],
            self._filler[signal][:size],
            self._suspect[signal][:size],
        )

    @property
    def signals(self) -> list[Signal]:
        """Signals that anything was laid for."""
        return list(self._mean)
