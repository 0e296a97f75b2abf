"""Money: Decimal with a currency, split exactly, printed plainly. Unknown is None, never zero."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

PLACES = 9  # stored precision of metered cost: a millisecond of the dearest machine is still more than one unit


def split(amount: Decimal, weights: Sequence[int | Fraction | Decimal], places: int = PLACES) -> list[Decimal]:
    """Split ``amount`` by ``weights`` so that the parts sum to it exactly (largest remainder, ties to the first).

    ``amount`` must have at most ``places`` decimals; weights are >= 0 and not all zero. Works for negative amounts.
    """
    unit = Decimal(1).scaleb(-places)
    with localcontext() as context:
        context.prec = 60
        whole = int((amount / unit).to_integral_exact())
        if Decimal(whole) * unit != amount:
            raise ValueError(f"{amount} has more than {places} decimals")
        shares = [Fraction(weight) for weight in weights]
        total = sum(shares)
        if total <= 0:
            raise ValueError("the weights sum to nothing")
        exact = [whole * share / total for share in shares]
        floors = [part.numerator // part.denominator for part in exact]
        order = sorted(range(len(exact)), key=lambda i: (floors[i] - exact[i], i))
        for i in order[: whole - sum(floors)]:
            floors[i] += 1
        return [Decimal(part) * unit for part in floors]


def round_down(amount: Decimal, places: int = PLACES) -> Decimal:
    """Cut to ``places`` decimals (towards minus infinity)."""
    return amount.quantize(Decimal(1).scaleb(-places), rounding=ROUND_FLOOR)


def plain(amount: Decimal | None) -> str | None:
    """Print without exponent and without needless zeros; at least two decimals when there are any cents."""
    if amount is None:
        return None
    text = f"{amount.normalize():f}" if amount else "0"
    whole, dot, decimals = text.partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}" if dot else f"{whole}.00"
