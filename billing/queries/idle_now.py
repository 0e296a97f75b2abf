"""What idle instances cost right now, dearest first; what has no price is counted apart, never as zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from fleet.domain.ports import HourlyPrice, PriceLookup
from fleet.queries.standing import IdleInstance


@dataclass(frozen=True)
class PricedIdle:
    """An idle instance with its price; None: unpriced."""

    instance: IdleInstance
    price: HourlyPrice | None


@dataclass(frozen=True)
class IdleNow:
    """``per_hour``: currency -> money an hour. ``unpriced``: how many instances have no price. ``gpus``: devices."""

    rows: list[PricedIdle]
    per_hour: dict[str, Decimal]
    unpriced: int
    gpus: int


def idle_now(instances: Sequence[IdleInstance], prices: PriceLookup, at: datetime) -> IdleNow:
    """Price the idle instances at ``at`` and put the dearest first, unpriced ones last, the longest idle before."""
    known = prices.prices([one.id for one in instances], at) if instances else {}
    rows = [PricedIdle(one, known.get(one.id)) for one in instances]
    rows.sort(
        key=lambda row: (-(row.price.per_hour if row.price else Decimal(-1)), row.instance.since or at, row.instance.id)
    )
    per_hour: dict[str, Decimal] = {}
    for row in rows:
        if row.price:
            per_hour[row.price.currency] = per_hour.get(row.price.currency, Decimal(0)) + row.price.per_hour
    unpriced = sum(row.price is None for row in rows)
    return IdleNow(rows, per_hour, unpriced, sum(one.gpu_count or 0 for one in instances))
