"""Numbers that look random and are a function of what they are about: the story is the same in whatever parts."""

from __future__ import annotations

from zlib import crc32

import numpy as np
from numpy.typing import NDArray

SEED = 20_260_301
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


def key_of(text: str) -> int:
    """Give a number for a name."""
    return crc32(text.encode())


def noise(salt: str, *places: NDArray[np.int64]) -> NDArray[np.float64]:
    """Give evenly spread numbers in [0, 1), one for each combination of ``places`` (arrays that broadcast)."""
    mixed: NDArray[np.uint64] = np.array(SEED ^ key_of(salt) << 20, dtype=np.uint64)
    with np.errstate(over="ignore"):
        for place in places:
            mixed = _mix(mixed + _GOLDEN + np.asarray(place).astype(np.uint64))
    return np.asarray((mixed >> np.uint64(11)).astype(np.float64) / 2.0**53)


def _mix(value: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble the bits (the finish of splitmix64)."""
    value = (value ^ (value >> np.uint64(30))) * _FIRST
    value = (value ^ (value >> np.uint64(27))) * _SECOND
    return np.asarray(value ^ (value >> np.uint64(31)))
