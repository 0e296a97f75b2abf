"""Numbers as people read them: money, counts, percents. Unknown is an em dash, never zero.

The same text stands in pages, messages and charts. A no-break space keeps number and unit together.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal

NBSP = "\u00a0"
MINUS = "\u2212"
MISSING = "\u2014"
_SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}
_CENT = Decimal("0.01")


def cents(amount: Decimal) -> Decimal:
    """Round to two decimals, half to even: the one rule for printed money."""
    return amount.quantize(_CENT, rounding=ROUND_HALF_EVEN)


def money(amount: Decimal | None, currency: str) -> str:
    """Write ``$1,672,930.19``, ``−€3.00`` or ``CNY 12.00``; two decimals always."""
    if amount is None:
        return MISSING
    return _signed(f"{abs(cents(amount)):,.2f}", currency, negative=cents(amount) < 0)


def short_money(amount: Decimal | float, currency: str) -> str:
    """Write ``$2.69 M``, ``$14.1 k``, ``$872``: for charts, where the exact amount stands in the table."""
    size = abs(float(amount))
    if size >= 999_950:
        text = f"{size / 1e6:,.2f}{NBSP}M"
    elif size >= 9_999.5:
        text = f"{size / 1e3:,.1f}{NBSP}k"
    else:
        text = f"{size:,.0f}" if size >= 100 else f"{size:,.2f}"
    return _signed(text, currency, negative=float(amount) < 0)


def money_parts(amount: Decimal, currency: str) -> tuple[str, str]:
    """Split ``$1,672,930.19`` into ``$1,672,930`` and ``.19``, so that a large sum can grey its cents."""
    text = money(amount, currency)
    return text[:-3], text[-3:]


def count(number: float | Decimal | None, places: int = 0) -> str:
    """Write ``1,200`` or ``12.5``."""
    return MISSING if number is None else f"{number:,.{places}f}"


def hours(number: float | None) -> str:
    """Write hours: whole ones from 100 on, else one decimal; ``< 0.1`` for less."""
    if number is None:
        return MISSING
    if 0 < number < 0.05:
        return "< 0.1"
    return count(number) if number >= 99.95 or number == int(number) else count(number, 1)


def percent(share: float | None, places: int = 1) -> str:
    """Write a percentage (0 to 100) as ``71.8 %``."""
    return MISSING if share is None else f"{share:,.{places}f}{NBSP}%"


def money_prefix(currency: str) -> str:
    """Give what stands before an amount: ``$``, ``€``, ``CNY `` with a no-break space."""
    return _SYMBOLS.get(currency, f"{currency}{NBSP}" if currency else "")


def _signed(text: str, currency: str, *, negative: bool) -> str:
    return f"{MINUS if negative else ''}{money_prefix(currency)}{text}"
