"""Where a fold over samples stands: enough to go on without the samples before, apart from one window of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fleet.domain.idle_rule import NEVER

_TIMES = (
    "start",  # of the GPU's present run; NEVER: not known, and no sample yet
    "first_mark",  # first sample after the start
    "seen_mark",  # newest sample with points
    "seen_at",  # newest raw point
    "busy_mark",  # newest busy sample
    "quiet_mark",
    "silent_mark",  # newest sample that tells nothing
    "held_mark",  # newest sample with memory held
    "blind_mark",  # newest sample with memory unknown
    "hole_mark",  # the sample before the newest hole between points
    "gap_mark",  # first sample after the newest long gap that came while no finding was open
    "closed_mark",  # newest second busy sample in a row
    "since",  # of the idle clock
)
DTYPE = np.dtype(
    [(name, np.float64) for name in _TIMES]
    + [
        ("interval", np.float64),  # seconds between scrapes, 0 unknown
        ("minutes", np.float64),  # covered since `since`
        ("is_open", np.bool_),  # an idle finding of this GPU is open
        ("in_run", np.bool_),  # and no busy sample came since the verdict was idle
    ]
)


@dataclass(frozen=True)
class Carry:
    """The fold of G GPUs at ``mark``; ``rows`` is a structured array of DTYPE, [G]; times in epoch seconds."""

    mark: int
    rows: NDArray[Any]

    def select(self, rows: NDArray[Any]) -> Carry:
        """The carry of some GPUs, by row numbers or flags."""
        return Carry(self.mark, self.rows[rows])

    def to_bytes(self) -> bytes:
        """The rows as bytes, for storing."""
        return bytes(self.rows.tobytes())

    @classmethod
    def from_bytes(cls, mark: int, data: bytes) -> Carry:
        """Read back what ``to_bytes`` gave. Raises ValueError when it was another layout."""
        return cls(mark, np.frombuffer(data, dtype=DTYPE).copy())


def beginning(count: int, mark: int) -> Carry:
    """The fold before anything was seen."""
    rows = np.zeros(count, dtype=DTYPE)
    for name in _TIMES:
        rows[name] = NEVER
    return Carry(mark, rows)


def midway(starts: NDArray[np.float64], mark: int, *, is_open: bool) -> Carry:
    """A fold that begins in the middle of GPUs' lives [G]: what came before is not known, one supposition is made."""
    carry = beginning(len(starts), mark)
    carry.rows["start"] = starts
    carry.rows["first_mark"] = starts  # an earlier sample was the first one; no event of it is made here
    carry.rows["seen_mark"] = float(mark)
    carry.rows["seen_at"] = np.nan  # no gap is judged before the first sample of the fold
    carry.rows["silent_mark"] = float(mark)  # nothing is idle by a window that reaches back to here
    carry.rows["is_open"] = is_open
    carry.rows["in_run"] = is_open
    return carry
