"""What idle minutes cost: covered minutes times the price of an hour, to the cent."""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

CENT = Decimal("0.01")


def cost_of(price_per_hour: Decimal, minutes: float) -> Decimal:
    """Give the cost of covered minutes, rounded half to even to the cent."""
    return (price_per_hour * Decimal(str(minutes)) / 60).quantize(CENT, rounding=ROUND_HALF_EVEN)
