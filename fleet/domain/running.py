"""Small running computations along the marks of [G, N] arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def later(values: NDArray[Any], at_first: NDArray[Any]) -> NDArray[Any]:
    """The greatest value so far at each mark, going on from ``at_first`` [G], whose NaN gives way."""
    running = np.maximum.accumulate(values, axis=1)
    return np.where(running > -np.inf, np.fmax(running, at_first[:, None]), at_first[:, None])


def previous(values: NDArray[Any], at_first: NDArray[Any]) -> NDArray[Any]:
    """The value at the mark before each mark."""
    return np.concatenate([at_first[:, None], values[:, :-1]], axis=1)


class Before:
    """For each mark, the newest mark at or before it where a flag held."""

    def __init__(self, flags: NDArray[np.bool_]) -> None:
        self.column = np.maximum.accumulate(np.where(flags, np.arange(flags.shape[1]), -1), axis=1)

    def latest(self, values: NDArray[Any], at_first: NDArray[Any]) -> NDArray[Any]:
        """The value at that newest mark, ``at_first`` [G] where there was none."""
        found = np.take_along_axis(values, np.maximum(self.column, 0), axis=1)
        return np.where(self.column >= 0, found, at_first[:, None])
