"""The grid that answers are laid on: rows are devices, columns are marks."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fleet.domain.exporters import Dialect, Metric
from fleet.domain.samples import STEP_SECONDS
from fleet.domain.series import Identity, identify, identity_text
from fleet.domain.signals import Signal
from fleet.domain.telemetry import Matrix
from fleet.sources.prometheus.answers import Floats64, Ints, Series

NOBODY = -1
Scalar = TypeVar("Scalar", bound=np.generic)


class Line(NamedTuple):
    """What the labels of a series say under a dialect; ``row`` is NOBODY for a series without a device."""

    row: int
    labels: dict[str, str]
    is_whole: bool  # it stands for the whole device, not for one of its sharers


class Grid:
    """Means and peaks [rows, marks] per signal, which metric filled each cell, and which cells hold garbage."""

    def __init__(self, marks: Ints) -> None:
        self.marks = marks
        self.identities: list[Identity] = []
        self.raw_text: dict[str, dict[int, str]] = {}  # dialect -> row -> the identifying label as the source writes it
        self._rows: dict[Identity, int] = {}
        self._by_text: dict[tuple[str, str, str], int] = {}  # dialect, identifying label, MIG instance
        self._lines: dict[str, dict[bytes, Line]] = {}  # dialect -> labels as text -> what they say
        self._mean: dict[Signal, Matrix] = {}
        self._peak: dict[Signal, Matrix] = {}
        self._filler: dict[Signal, NDArray[np.int16]] = {}
        self._suspect: dict[Signal, NDArray[np.bool_]] = {}
        self._capacity = 0

    def lines_of(self, series: Series, dialect: Dialect) -> list[Line]:
        """Say what each series of an answer is about; a device that is new gets a row."""
        known = self._lines.setdefault(dialect.key, {})
        for key in series.keys:
            if key not in known:
                labels = series.labels(key)
                is_whole = not dialect.split or labels.get(dialect.split, "") in ("", dialect.split_wins)
                known[key] = Line(self._row_of(labels, dialect), labels, is_whole)
        return [known[key] for key in series.keys]

    def _row_of(self, labels: dict[str, str], dialect: Dialect) -> int:
        text = identity_text(labels, dialect)
        key = (dialect.key, text, labels.get(dialect.mig, "") if dialect.mig else "")
        if key not in self._by_text:
            identity, row = identify(labels, dialect), NOBODY
            if identity is not None:
                row = self._rows.setdefault(identity, len(self._rows))
                if row == len(self.identities):
                    self.identities.append(identity)
                if not dialect.joined_identity:
                    self.raw_text.setdefault(dialect.key, {})[row] = text
            self._by_text[key] = row
        return self._by_text[key]

    def columns(self, at: Floats64) -> Ints:
        """Give the column of the sample that holds each time; outside of the grid: negative or beyond."""
        columns: Ints = np.ceil((at - self.marks[0]) / STEP_SECONDS - 1e-9).astype(np.int64)
        return columns

    def lay(self, series: Series, metric: Metric) -> tuple[Floats64, NDArray[np.bool_]]:
        """Lay an aggregated answer on the grid: (values, which cells it has), [rows, marks].

        Of series of one device, the one that stands for the whole device wins; else the greatest counts, or for what
        is spread over partitions the sum.
        """
        lines = self.lines_of(series, metric.dialect)
        rows = np.fromiter((line.row for line in lines), dtype=np.int64, count=len(lines))
        wins = np.fromiter((line.is_whole for line in lines), dtype=bool, count=len(lines))
        if metric.is_summed and metric.dialect.split:
            wins[:] = False  # a part of a sum never stands for the whole device
        row, win = np.repeat(rows, series.length), np.repeat(wins, series.length)
        column = self.columns(series.at)
        usable = (row >= 0) & (column >= 0) & (column < len(self.marks))
        shape = (len(self.identities), len(self.marks))
        whole, part = np.full(shape, np.nan), np.full(shape, np.nan)
        has = np.zeros(shape, dtype=bool)
        has[row[usable], column[usable]] = True
        pick = usable & win
        np.fmax.at(whole, (row[pick], column[pick]), series.value[pick])
        pick = usable & ~win
        if metric.is_summed:
            part[row[pick], column[pick]] = 0
            np.add.at(part, (row[pick], column[pick]), series.value[pick])
        elif pick.any():
            np.fmax.at(part, (row[pick], column[pick]), series.value[pick])
        return np.where(np.isnan(whole), part, whole), has

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
