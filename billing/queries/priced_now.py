"""Which running machines have a price and which don't, by kind of machine."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime

from billing.queries.prices_now import PricesNow
from fleet.queries.first_run import running_now


@dataclass(frozen=True)
class Priced:
    """How many machines run, have a price, have the list price; the ``unpriced`` ones by provider and model."""

    machines: int
    priced: int
    list_price: int
    unpriced: tuple[tuple[str, str, int], ...]


def priced_now(now: datetime) -> Priced:
    """Look every running machine up."""
    running = running_now()
    prices = PricesNow().prices(list(running), now)
    missing = Counter(
        (str(attributes.get("provider") or ""), str(attributes.get("gpu_model") or ""))
        for pk, attributes in running.items()
        if pk not in prices
    )
    return Priced(
        len(running), len(prices), sum(price.is_list_price for price in prices.values()),
        tuple((provider, model, n) for (provider, model), n in missing.most_common(8)),
    )  # fmt: skip
