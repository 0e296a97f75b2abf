"""The money of one instance-hour: which part of it runs at which price."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from functools import lru_cache

from billing.domain.hour_cost import amount_units
from billing.domain.prices import Segment

STOPPED_BILLED = "stopped_billed"
MILLISECOND = timedelta(milliseconds=1)

Stay = tuple[datetime, datetime, bool, str]
"""(start, end, is running, provider's state)."""


@dataclass(frozen=True)
class Amount:
    """What an instance-hour costs in one currency, in billionths: while running, and while stopped but billed."""

    currency: str
    running: int
    stopped: int
    is_list_price: bool


@dataclass(frozen=True)
class HourMoney:
    """Amounts by currency; ``running_ms`` of the instance, of which ``unpriced_ms`` have no price."""

    amounts: Sequence[Amount] = ()
    running_ms: int = 0
    unpriced_ms: int = 0
    stopped_unpriced_ms: int = 0


@dataclass
class _Stretches:
    running: list[tuple[Decimal, int]] = field(default_factory=list)
    stopped: list[tuple[Decimal, int]] = field(default_factory=list)
    is_list_price: bool = False


def hour_money(stays: Sequence[Stay], prices: Sequence[Segment], start: datetime, end: datetime) -> HourMoney:
    """Give the money of [start, end): at each moment the price in force then; what is stopped costs nothing here."""
    by_currency: dict[str, _Stretches] = {}
    running = unpriced = stopped_unpriced = 0
    for stay_start, stay_end, is_running, state in stays:
        if stay_start >= end or stay_end <= start or not (is_running or state == STOPPED_BILLED):
            continue
        for segment in prices:
            first = max(start, stay_start, segment.start)
            last = min(end, stay_end, segment.end or end)
            duration = (last - first) // MILLISECOND
            if duration <= 0:
                continue
            running += duration if is_running else 0
            if segment.price is None:
                unpriced += duration if is_running else 0
                stopped_unpriced += 0 if is_running else duration
                continue
            found = by_currency.setdefault(segment.price.currency, _Stretches())
            (found.running if is_running else found.stopped).append((segment.price.per_hour, duration))
            found.is_list_price |= segment.price.is_list_price
    amounts = [
        Amount(currency, _units(tuple(found.running)), _units(tuple(found.stopped)), found.is_list_price)
        for currency, found in sorted(by_currency.items())
    ]
    return HourMoney(amounts, running, unpriced, stopped_unpriced)


@lru_cache(maxsize=10_000)
def _units(stretches: tuple[tuple[Decimal, int], ...]) -> int:
    return amount_units(stretches)
