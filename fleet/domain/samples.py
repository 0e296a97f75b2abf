"""Samples: one GPU in ``(at - 5 min, at]``, named by its end, as arrays over GPUs and marks.

A raw point stands for the time back to the one before it, at most one scrape interval; the first one of a GPU stands
for nothing. So a fleet scraped every 30 minutes is covered: one sample in six has a point, and that one stands for
30 minutes.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fleet.domain.signals import Signal

STEP_SECONDS = 300

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class SampleBlock:
    """Samples of G GPUs at N consecutive marks.

    ``gpu_ids`` int64 [G]; ``marks`` int64 [N], epoch seconds of each sample's end, 300 apart.
    The rest is [G, N]; a sample without raw points has ``points`` 0 and NaN elsewhere.
    """

    gpu_ids: NDArray[np.int64]
    marks: NDArray[np.int64]
    points: NDArray[np.int32]  # raw points seen, garbage excluded
    interval: NDArray[np.int32]  # learned scrape interval in seconds at that time; 0 where there is no sample
    first_at: NDArray[np.float64]  # epoch seconds of the first raw point in the sample; NaN without one
    last_at: NDArray[np.float64]  # of the last one
    minutes: Floats  # minutes that the sample stands for; 0 without points. May exceed 5 (slow scrapes)
    mean: dict[Signal, Floats] = field(default_factory=dict)  # NaN where missing; a signal nobody has may be absent
    peak: dict[Signal, Floats] = field(default_factory=dict)

    @property
    def shape(self) -> tuple[int, int]:
        """(GPUs, marks)."""
        return (len(self.gpu_ids), len(self.marks))


def empty_block(gpu_ids: NDArray[np.int64], marks: NDArray[np.int64]) -> SampleBlock:
    """Give a block in which nothing was seen, with every signal present as NaN."""
    shape = (len(gpu_ids), len(marks))

    def missing() -> Floats:
        return np.full(shape, np.nan, dtype=np.float32)

    return SampleBlock(
        gpu_ids=gpu_ids,
        marks=marks,
        points=np.zeros(shape, dtype=np.int32),
        interval=np.zeros(shape, dtype=np.int32),
        first_at=np.full(shape, np.nan),
        last_at=np.full(shape, np.nan),
        minutes=np.zeros(shape, dtype=np.float32),
        mean={signal: missing() for signal in Signal},
        peak={signal: missing() for signal in Signal},
    )
