"""Prices that inventories give, at a time."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from billing.models import InstancePrice
from fleet.domain.ports import HourlyPrice


class InstancePrices:
    """Implements `PriceLookup` over the prices of inventories alone."""

    def prices(self, instance_ids: Collection[int], at: datetime) -> Mapping[int, HourlyPrice]:
        """Give the price in force at ``at`` of each instance that has one."""
        rows = InstancePrice.objects.filter(instance__in=instance_ids, valid_from__lte=at)
        rows = rows.order_by("instance", "-valid_from").distinct("instance")
        return {
            row.instance_id: HourlyPrice(row.price_per_hour, row.currency, "inventory")
            for row in rows
            if row.price_per_hour is not None
        }
