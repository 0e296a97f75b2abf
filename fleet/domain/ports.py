"""Ports: what the domain needs from outside, as Protocols. Doorways pass the implementations down."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Protocol

from fleet.domain.inventory import ObservedInstance


@dataclass(frozen=True)
class HourlyPrice:
    """What an instance costs per running hour, and where that comes from; never 0 for want of a price."""

    per_hour: Decimal
    currency: str
    source: str  # inventory, contract, list, ...
    is_list_price: bool = False
    source_date: date | None = None  # when the price was read there, where that is known


class PriceLookup(Protocol):
    """Prices of instances at a time; implemented by `billing.queries`."""

    def prices(self, instance_ids: Collection[int], at: datetime) -> Mapping[int, HourlyPrice]:
        """Give the price in force at ``at`` of each instance that has one; the others are unpriced."""


class InstanceProvider(Protocol):
    """Lists the instances of an account; one adapter for each kind of account."""

    def list_instances(self, provider: str, spec: Mapping[str, Any], *, now: datetime) -> list[ObservedInstance]:
        """Give all instances of the account as they are at ``now``. Raises OutsideFailed."""

    def same_until(self, spec: Mapping[str, Any], *, now: datetime) -> datetime | None:
        """Give until when the list can't differ from that of ``now`` while ``spec`` stays; None: ask every time."""
