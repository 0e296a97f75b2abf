"""What a pull brings: a `Reading` of devices over marks, and the port through which sources are read."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from fleet.domain.exporters import Dialect
from fleet.domain.series import Identity
from fleet.domain.signals import Signal

Matrix = NDArray[np.float32]


@dataclass(frozen=True)
class RawSeries:
    """One label set of one device, ``labels`` under lower-case names; times are epoch seconds, sorted."""

    row: int
    dialect: Dialect
    labels: dict[str, str]
    target: str  # "job/instance" or empty
    at: NDArray[np.float64]  # of its valid points
    seen: NDArray[np.float64]  # of all its points, garbage too: it was scraped then


@dataclass
class Reading:
    """One shard of a source over consecutive marks.

    ``identities`` has one entry per row; ``mean`` and ``peak`` are [rows, marks] in the signals' units, NaN where
    missing. ``series`` are the label sets with the times of their valid raw points (points before the first mark's
    sample included).
    """

    marks: NDArray[np.int64]
    identities: list[Identity]
    mean: dict[Signal, Matrix]
    peak: dict[Signal, Matrix]
    series: list[RawSeries]
    info: dict[int, dict[str, str]] = field(default_factory=dict)  # row -> labels of an info series, lower-case names
    memory_total_mib: dict[int, float] = field(default_factory=dict)
    power_limit_watts: dict[int, float] = field(default_factory=dict)
    bad: Counter[tuple[str, str, int]] = field(default_factory=Counter)  # (kind, signal, day as epoch days)
    warnings: list[str] = field(default_factory=list)
    is_partial: bool = False


@dataclass(frozen=True)
class UpState:
    """`up` of one target at the end of a pull; ``labels`` are the target's own (lower-case names)."""

    target: str
    is_up: bool
    changed_at: float  # epoch seconds of the mark since which it is so, as far as the pull shows
    labels: dict[str, str]


@dataclass(frozen=True)
class Shard:
    """A part of a source's devices: matchers on the end of the identifying label; all of it when empty.

    ``matchers`` are pairs of operator and regular expression, to be put after the dialect's identifying label.
    """

    matchers: tuple[tuple[str, str], ...] = ()

    def holds(self, text: str) -> bool:
        """Say whether a device with this identifying label is in the shard."""
        return all(bool(re.fullmatch(pattern, text)) is (operator == "=~") for operator, pattern in self.matchers)

    def halves(self) -> tuple[Shard, Shard]:
        """Split in two by the hexadecimal digit at a place from the end.

        Whatever is no such digit falls in the second.
        """
        depth = len(self.matchers)
        digits = ("[0-7]", "[012389abAB]", "[014589cdCD]", "[02468aceACE]")[depth % 4]
        pattern = f".*{digits}.{{{depth // 4}}}"
        return Shard((*self.matchers, ("=~", pattern))), Shard((*self.matchers, ("!~", pattern)))


WHOLE = Shard()
MAX_SPLITS = 8


@dataclass(frozen=True)
class Span:
    """Marks ``first`` to ``last`` (epoch seconds, 300 apart, inclusive); raw points from ``raw_since`` on."""

    first: int
    last: int
    raw_since: float
    count_after: float = 0.0  # dropped values are counted for points after it


class MetricsSource(Protocol):
    """A telemetry endpoint. Methods raise OutsideFailed with a code and a hint.

    They never give a partial answer as whole.
    """

    raw_seconds: float  # how much raw data one answer may cover, set by who knows the fleet's size

    def close(self) -> None:
        """Give the connections back."""

    def names(self, first: float, last: float) -> set[str]:
        """Give the metric names of a time range."""

    def count_series(self, at: int) -> int:
        """Count the series of one metric per exporter in the sample at a mark, to plan shards."""

    def count_points(self, marks: NDArray[np.int64], shard: Shard) -> tuple[list[Identity], NDArray[np.int32]]:
        """Count raw points per device and mark, [devices, marks]: cheap, and enough to see whether late ones came."""

    def read(self, span: Span, shard: Shard, *, with_facts: bool) -> Reading:
        """Read samples and raw points of a shard; ``with_facts``: memory and power limits too."""

    def read_up(self, jobs: set[str], span: Span) -> list[UpState]:
        """Read `up` of every target of the scrape jobs."""

    def read_gaps(self, targets: list[str], at: int) -> dict[str, list[NDArray[np.float64]]]:
        """Read the times of raw points of the last 24 hours of a few targets, to learn their interval."""
