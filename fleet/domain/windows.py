"""What a trailing window ``(max(T - length, start), T]`` holds at each mark T."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fleet.domain.idle_rule import Numbers
from fleet.domain.quiet import Flags

if TYPE_CHECKING:
    from fleet.domain.idle import _Fold

ROUNDING = 1e-6  # percents: 80 % of 120 points is 96 points, whatever a division makes of it


@dataclass(frozen=True)
class Window:
    """Arrays [G, M]. ``opens`` is where the window begins; ``is_thin``: fewer points than the rule asks for."""

    seconds: int
    opens: Numbers
    coverage_pct: Numbers
    is_seen: Flags
    is_thin: Flags
    is_busy: Flags
    is_silent: Flags
    has_hole: Flags  # between two points that are both inside


def look_back(fold: _Fold, seconds: int) -> Window:
    """Look back from every mark of the fold over ``seconds``."""
    opens = np.maximum(fold.times - seconds, fold.start)
    block = fold.block
    sums = np.zeros((block.shape[0], block.shape[1] + 1), dtype=np.int64)
    np.cumsum(block.points, axis=1, out=sums[:, 1:])
    before = np.clip((opens - block.marks[0]) // 300 + 1, 0, block.shape[1]).astype(np.int64)
    points = sums[:, fold.first_new + 1 :] - np.take_along_axis(sums, before, axis=1)
    length = fold.times - opens
    expected = length / np.where(fold.interval > 0, fold.interval, np.inf)
    coverage = np.minimum(100.0, 100.0 * points / np.where(expected > 0, expected, np.inf))
    return Window(
        seconds=seconds,
        opens=opens,
        coverage_pct=coverage,
        is_seen=fold.seen_mark > opens,
        is_thin=coverage < fold.rule.min_coverage_pct - ROUNDING,
        is_busy=fold.busy_mark > opens,
        is_silent=fold.silent_mark > opens,
        has_hole=fold.hole_mark > opens,
    )
