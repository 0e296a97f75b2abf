"""Prices of instances at one time, read set by set: for pages, which ask for the present and not for a history."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from django.db import connection

from billing.domain.prices import choose
from billing.queries.prices import book
from fleet.domain.ports import HourlyPrice
from fleet.queries.price_subjects import price_kinds_at


class PricesNow:
    """Implements `fleet.domain.ports.PriceLookup` with one question when every instance has a price of its own."""

    def prices(self, instance_ids: Collection[int], at: datetime) -> Mapping[int, HourlyPrice]:
        """Give the price in force at ``at`` of each instance that has one; the others are unpriced."""
        if not instance_ids:
            return {}
        found = _own_prices(instance_ids, at)
        rest = [pk for pk in instance_ids if pk not in found]
        if rest:
            found |= listed_prices(rest, at)
        return found


def _own_prices(instance_ids: Collection[int], at: datetime) -> dict[int, HourlyPrice]:
    """Give what the inventory says each instance costs per hour; those of one price come in one row."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT price_per_hour, currency, array_agg(instance_id) FROM (SELECT DISTINCT ON (instance_id) * FROM"
            " billing_instanceprice WHERE instance_id = ANY(%s) AND valid_from <= %s"
            " ORDER BY instance_id, valid_from DESC) latest WHERE price_per_hour IS NOT NULL GROUP BY 1, 2",
            [list(instance_ids), at],
        )
        found: dict[int, HourlyPrice] = {}
        for amount, currency, ids in cursor.fetchall():
            found.update(dict.fromkeys(ids, HourlyPrice(amount, currency, "inventory", False)))
        return found


def listed_prices(instance_ids: Collection[int], at: datetime) -> dict[int, HourlyPrice]:
    """Look instances up in the price book; machines of one kind share the answer."""
    listed = book()
    found: dict[int, HourlyPrice] = {}
    for subject, ids in price_kinds_at(instance_ids, at):
        one = choose(listed, subject, at)
        if one is not None:
            price = HourlyPrice(one.per_hour, one.currency, one.source, one.is_list_price, one.source_date)
            found.update(dict.fromkeys(ids, price))
    return found
