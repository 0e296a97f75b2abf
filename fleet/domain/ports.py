"""Ports: what the domain needs from outside, as Protocols. Doorways pass the implementations down."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Protocol


@dataclass(frozen=True)
class HourlyPrice:
    """What an instance costs per running hour, and where that comes from; never 0 for want of a price."""

    per_hour: Decimal
    currency: str
    source: str  # inventory, contract, list, ...
    is_list_price: bool = False


class PriceLookup(Protocol):
    """Prices of instances at a time; implemented by `billing.queries`."""

    def prices(self, instance_ids: Collection[int], at: datetime) -> Mapping[int, HourlyPrice]:
        """Give the price in force at ``at`` of each instance that has one; the others are unpriced."""
