"""The idle rule's numbers, and the facts about GPUs that it needs beside their samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.periods import parse_duration

Numbers = NDArray[np.float64]
NEVER = -np.inf  # a time that was not; smaller than every time, so that "after" needs no special case

ENCODER_PCT = 5.0  # encode and decode
TENSOR_PCT = 0.5
DRAM_PCT = 1.0
AMD_GFX_PCT = 20.0  # idle AMD cards read 12 to 19 %
EMPTY_MEMORY_MIB = 1024.0
EMPTY_MEMORY_SHARE = 0.05


@dataclass(frozen=True)
class IdleRule:
    """When a GPU is idle. Seconds and percents; the defaults are the product's."""

    threshold_pct: float = 5.0
    window_seconds: int = 3600
    empty_window_seconds: int = 1800
    min_coverage_pct: float = 80.0
    warm_up_seconds: int = 1800

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any], default: IdleRule | None = None) -> IdleRule:
        """Read ``idle:`` of a policy or of the organisation; what it does not say comes from ``default``."""
        base = default or cls()

        def seconds(key: str, otherwise: int) -> int:
            if spec.get(key) is None:
                return otherwise
            return int(parse_duration(str(spec[key]), key=key).total_seconds())

        def number(key: str, otherwise: float) -> float:
            return float(spec[key]) if spec.get(key) is not None else otherwise

        return cls(
            threshold_pct=number("threshold_pct", base.threshold_pct),
            window_seconds=seconds("window", base.window_seconds),
            empty_window_seconds=seconds("empty_window", base.empty_window_seconds),
            min_coverage_pct=number("min_coverage_pct", base.min_coverage_pct),
            warm_up_seconds=seconds("warm_up", base.warm_up_seconds),
        )

    @property
    def reach_seconds(self) -> int:
        """How far back a verdict looks."""
        return max(self.window_seconds, self.empty_window_seconds)


@dataclass(frozen=True)
class GpuFacts:
    """What is known of G GPUs beside samples; arrays [G], in the order of the block.

    ``started_at``: epoch seconds of the latest launch, start or resume before the fold begins; NaN: unknown, the GPU's
    first sample stands for it. ``later_rows`` and ``later_starts`` [K]: further starts, as (row, epoch seconds) pairs.
    """

    started_at: Numbers
    is_mig: NDArray[np.bool_]
    is_amd: NDArray[np.bool_]
    memory_total_mib: Numbers  # NaN: unknown
    power_limit_watts: Numbers  # NaN: unknown
    power_baseline_watts: Numbers  # NaN: not learned, or not needed
    later_rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    later_starts: Numbers = field(default_factory=lambda: np.zeros(0))

    def empty_limit_mib(self) -> Numbers:
        """Memory up to which a GPU counts as empty [G]; 1 GiB where the total is unknown."""
        share = np.where(np.isnan(self.memory_total_mib), np.inf, self.memory_total_mib * EMPTY_MEMORY_SHARE)
        return np.minimum(share, EMPTY_MEMORY_MIB)

    def latest_start(self, marks: NDArray[np.int64]) -> Numbers:
        """The latest known start at or before each mark [G, N]; NEVER where none is known."""
        starts = np.repeat(np.where(np.isnan(self.started_at), NEVER, self.started_at)[:, None], len(marks), axis=1)
        starts = np.where(starts <= marks, starts, NEVER)
        for row, start in zip(self.later_rows, self.later_starts, strict=True):
            starts[row] = np.maximum(starts[row], np.where(marks >= start, start, NEVER))
        return np.asarray(starts)

    def select(self, rows: NDArray[np.int64]) -> GpuFacts:
        """The facts of some rows, in their order."""
        place = {int(row): new for new, row in enumerate(rows)} if len(self.later_rows) else {}
        kept = [i for i, row in enumerate(self.later_rows) if int(row) in place]
        return GpuFacts(
            started_at=self.started_at[rows],
            is_mig=self.is_mig[rows],
            is_amd=self.is_amd[rows],
            memory_total_mib=self.memory_total_mib[rows],
            power_limit_watts=self.power_limit_watts[rows],
            power_baseline_watts=self.power_baseline_watts[rows],
            later_rows=np.array([place[int(self.later_rows[i])] for i in kept], dtype=np.int64),
            later_starts=self.later_starts[kept] if kept else np.zeros(0),
        )


def facts_of(count: int, **known: Any) -> GpuFacts:
    """Facts of ``count`` plain GPUs of which only ``known`` arrays or values are known."""

    def array(name: str, otherwise: Any, dtype: Any) -> Any:
        return np.broadcast_to(np.asarray(known.get(name, otherwise), dtype=dtype), (count,)).copy()

    return GpuFacts(
        started_at=array("started_at", np.nan, np.float64),
        is_mig=array("is_mig", False, np.bool_),
        is_amd=array("is_amd", False, np.bool_),
        memory_total_mib=array("memory_total_mib", np.nan, np.float64),
        power_limit_watts=array("power_limit_watts", np.nan, np.float64),
        power_baseline_watts=array("power_baseline_watts", np.nan, np.float64),
    )
