"""Prices of instances at one time, read set by set: for pages, which ask for the present and not for a history."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from decimal import Decimal

from django.db import connection

from billing.domain.prices import Subject, choose
from billing.queries.prices import book, subject_of
from fleet.domain.ports import HourlyPrice
from fleet.queries.price_subjects import price_subjects_at


class PricesNow:
    """Implements `fleet.domain.ports.PriceLookup` with one question when every instance has a price of its own."""

    def prices(self, instance_ids: Collection[int], at: datetime) -> Mapping[int, HourlyPrice]:
        """Give the price in force at ``at`` of each instance that has one; the others are unpriced."""
        if not instance_ids:
            return {}
        found = {
            pk: HourlyPrice(amount, currency, "inventory", False)
            for pk, (amount, currency) in _own_prices(instance_ids, at).items()
        }
        rest = [pk for pk in instance_ids if pk not in found]
        if rest:
            found |= listed_prices(rest, at)
        return found


def _own_prices(instance_ids: Collection[int], at: datetime) -> dict[int, tuple[Decimal, str]]:
    """Give what the inventory says each instance costs per hour."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT ON (instance_id) instance_id, price_per_hour, currency FROM billing_instanceprice"
            " WHERE instance_id = ANY(%s) AND valid_from <= %s ORDER BY instance_id, valid_from DESC",
            [list(instance_ids), at],
        )
        return {pk: (amount, currency) for pk, amount, currency in cursor.fetchall() if amount is not None}


def listed_prices(instance_ids: Collection[int], at: datetime) -> dict[int, HourlyPrice]:
    """Look instances up in the price book; machines of one kind share the answer."""
    listed = book()
    known: dict[Subject, HourlyPrice | None] = {}
    found: dict[int, HourlyPrice] = {}
    for pk, attributes in price_subjects_at(instance_ids, at).items():
        subject = subject_of(attributes)
        if subject not in known:
            one = choose(listed, subject, at)
            known[subject] = HourlyPrice(one.per_hour, one.currency, one.source, one.is_list_price) if one else None
        price = known[subject]
        if price is not None:
            found[pk] = price
    return found
