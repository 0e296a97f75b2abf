"""The money of an hour: price x time, rounded once, then split over GPUs, shares and states to the last unit.

Amounts are whole billionths of a currency unit (`common.money.PLACES`).
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from common.money import PLACES

UNIT = 10**PLACES
HOUR_MS = 3_600_000

Units = NDArray[np.int64]


def amount_units(stretches: Sequence[tuple[Decimal, int]]) -> int:
    """Give the sum of price per hour x milliseconds in units, rounded once, half to even."""
    total = sum((Fraction(price) * duration_ms for price, duration_ms in stretches), Fraction(0))
    units: int = round(total * UNIT / HOUR_MS)
    return units


def running_units(rate_per_hour: Fraction, from_ms: int, to_ms: int) -> int:
    """Give the units that a running total of ``rate_per_hour`` since 0 grows by between two times.

    The total is rounded, not the step: steps that follow each other sum to the total exactly.
    """
    before: int = round(rate_per_hour * from_ms * UNIT / HOUR_MS)
    after: int = round(rate_per_hour * to_ms * UNIT / HOUR_MS)
    return after - before


def split_groups(amounts: Units, group: Units, weights: Units) -> Units:
    """Split ``amounts`` [K] over cells [C]: ``group`` [C] (ascending) says whose, ``weights`` [C] >= 0 how much.

    The cells of a group sum to its amount exactly (largest remainder, ties to the first cell). A group whose weights
    are all 0 gets nothing. As `common.money.split`, on arrays; amounts may be negative.
    """
    totals = np.zeros(len(amounts), dtype=np.int64)
    np.add.at(totals, group, weights)
    total = np.where(totals == 0, 1, totals)
    whole, rest = np.divmod(amounts, total)
    small, remainder = np.divmod(rest[group] * weights, total[group])
    parts = whole[group] * weights + small
    parts = np.where(totals[group] == 0, 0, parts)
    given = np.zeros(len(amounts), dtype=np.int64)
    np.add.at(given, group, parts)
    left = np.where(totals == 0, 0, amounts - given)
    if left.any():
        order = np.lexsort((np.arange(len(group)), -remainder, group))
        first = np.searchsorted(group, np.arange(len(amounts)), side="left")
        place = np.empty(len(group), dtype=np.int64)
        place[order] = np.arange(len(group)) - first[group[order]]
        parts = parts + (place < left[group])
    return parts
