"""What idle instances cost right now, dearest first; what has no price is counted apart, never as zero.

Order and totals need ids and prices of all idle instances; evidence is read only for those that are shown:
``rows = read_shown(idle.rows[first:last])``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from fleet.domain.ports import HourlyPrice, PriceLookup
from fleet.queries.standing import FleetNow, IdleInstance, idle_instances

UNPRICED = Decimal(-1)  # stands behind every price in the order


@dataclass(frozen=True)
class PricedIdle:
    """An idle instance in full with its price; None: unpriced."""

    instance: IdleInstance
    price: HourlyPrice | None


@dataclass(frozen=True)
class IdleNow:
    """``per_hour``: currency -> money an hour. ``unpriced``: how many instances have no price. ``gpus``: devices.

    ``rows``: id and price of every idle instance, the dearest first, of equal ones the longest idle.
    """

    rows: list[tuple[int, HourlyPrice | None]]
    per_hour: dict[str, Decimal]
    unpriced: int
    gpus: int


def idle_now(fleet: FleetNow, prices: PriceLookup, at: datetime) -> IdleNow:
    """Price the idle instances at ``at`` and put the dearest first, unpriced ones last."""
    known = prices.prices(fleet.idle, at) if fleet.idle else {}
    amounts = {pk: price.per_hour for pk, price in known.items()}
    order = sorted(fleet.idle, key=lambda pk: amounts.get(pk, UNPRICED), reverse=True)
    per_hour: dict[str, Decimal] = {}
    for price in known.values():
        per_hour[price.currency] = per_hour.get(price.currency, Decimal(0)) + price.per_hour
    return IdleNow([(pk, known.get(pk)) for pk in order], per_hour, len(order) - len(known), fleet.idle_gpus)


def read_shown(rows: Sequence[tuple[int, HourlyPrice | None]]) -> list[PricedIdle]:
    """Read in full what a page shows, in the order given."""
    found = idle_instances([pk for pk, _ in rows])
    return [PricedIdle(found[pk], price) for pk, price in rows if pk in found]
