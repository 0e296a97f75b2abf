"""The queries, as text. Windows are `[299999ms]` at a mark of the grid: `(T-5m, T]` on every version and product."""

from __future__ import annotations

from collections.abc import Sequence

from fleet.domain.exporters import Metric
from fleet.domain.plausible import limits
from fleet.domain.signals import RANGES, Signal
from fleet.domain.telemetry import WHOLE, Shard

WINDOW = "[299999ms]"


def quoted(value: str) -> str:
    """Give a PromQL string."""
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def any_of(values: Sequence[str]) -> str:
    """Give a regular expression (RE2) that matches exactly these values."""
    return "|".join("".join(f"\\{char}" if char in r".^$*+?()[]{}|\\" else char for char in value) for value in values)


class Queries:
    """Builds queries of one source: its ``selector`` is in every one of them."""

    def __init__(self, selector: str = "") -> None:
        self.selector = selector.strip().removeprefix("{").removesuffix("}").strip().strip(",")

    def select(self, metric: Metric, shard: Shard = WHOLE, only: Sequence[str] = ()) -> str:
        """Select the series of a metric; ``only``: values of the dialect's first identifying label."""
        key = metric.dialect.identity[0]
        parts = [self.selector, metric.matcher]
        if metric.means is Signal.GPU_UTIL and metric.dialect.mig:
            parts.append(f'{metric.dialect.mig}=""')  # under MIG it is absent or a flat zero: no measurement
        parts += [f"{key}{operator}{quoted(pattern)}" for operator, pattern in shard.matchers]
        if only:
            parts.append(f"{key}=~{quoted(any_of(only))}")
        return f"{metric.name}{{{','.join(part for part in parts if part)}}}"

    def mean(self, metric: Metric, shard: Shard = WHOLE) -> str:
        """Exact mean of the sample, whatever labels changed meanwhile."""
        by, series = f"by ({','.join(metric.dialect.by)})", self.select(metric, shard)
        return f"sum {by} (sum_over_time({series}{WINDOW})) / sum {by} (count_over_time({series}{WINDOW}))"

    def peak(self, metric: Metric, shard: Shard = WHOLE) -> str:
        """Greatest raw value of the sample; garbage shows here."""
        return f"max by ({','.join(metric.dialect.by)}) (max_over_time({self.select(metric, shard)}{WINDOW}))"

    def too_low(self, metric: Metric, shard: Shard = WHOLE) -> str:
        """Give only the samples that hold a raw value which is too low to be one."""
        assert isinstance(metric.means, Signal)
        low, _ = limits(metric.means, metric.scale)
        compare = "<=" if RANGES[metric.means].low_is_missing else "<"
        by = ",".join(metric.dialect.by)
        return f"min by ({by}) (min_over_time({self.select(metric, shard)}{WINDOW})) {compare} {low:g}"

    def raw(self, metric: Metric, seconds: float, shard: Shard = WHOLE, only: Sequence[str] = ()) -> str:
        """Raw points of the last ``seconds``, without one exactly so old."""
        return f"{self.select(metric, shard, only)}[{round(seconds * 1000) - 1}ms]"

    def points(self, metric: Metric, shard: Shard = WHOLE) -> str:
        """Count the raw points of each device in the sample."""
        return f"sum by ({','.join(metric.dialect.by)}) (count_over_time({self.select(metric, shard)}{WINDOW}))"

    def count(self, metric: Metric) -> str:
        """Count the series that have points in the sample."""
        return f"count(count_over_time({self.select(metric)}{WINDOW}))"

    def up(self, jobs: Sequence[str]) -> str:
        """`up` of some jobs."""
        parts = [self.selector, f"job=~{quoted(any_of(jobs))}"]
        return f"up{{{','.join(part for part in parts if part)}}}"
