"""Every price with what it prices now, prices that overlap, and what has none. One look at the present."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import connection

from billing.domain.prices import chosen
from billing.models import Price
from billing.queries.prices import book
from fleet.domain.price_subject import PriceSubject
from fleet.queries.price_subjects import price_kinds_at
from fleet.queries.standing import instance_path


@dataclass(frozen=True)
class Running:
    """A running machine: row id, account and name; its own price from the inventory, None without one."""

    id: int
    account: str | None
    name: str
    own: Decimal | None
    currency: str

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.name)


@dataclass(frozen=True)
class PriceUse:
    """A price of the book with the machines it prices now and the prices it overlaps; ``is_managed``: by fleet.yaml."""

    row: Price
    machines: Sequence[Running]
    overlaps: Sequence[int]

    @property
    def is_managed(self) -> bool:
        """Whether fleet.yaml has it, and ends and changes it."""
        return self.row.declared is not None


@dataclass(frozen=True)
class PricesInUse:
    """``inventory``: (price per hour, currency) -> machines whose account tells it. ``unpriced``: and why."""

    prices: list[PriceUse]
    inventory: dict[tuple[Decimal, str], list[Running]]
    unpriced: list[tuple[Running, PriceSubject]]


def prices_in_use(at: datetime) -> PricesInUse:
    """Read it for the whole organisation: it looks at no team."""
    running = _running(at)
    listed = book()
    bare = {one.id: one for one in running if one.own is None}
    of_price: defaultdict[int, list[Running]] = defaultdict(list)
    unpriced: list[tuple[Running, PriceSubject]] = []
    for subject, ids in price_kinds_at(list(bare), at) if bare else ():
        price = chosen(listed, subject, at)
        if price is None:
            unpriced += [(bare[pk], subject) for pk in ids]
        else:
            of_price[price.key] += [bare[pk] for pk in ids]
    inventory: defaultdict[tuple[Decimal, str], list[Running]] = defaultdict(list)
    for one in running:
        if one.own is not None:
            inventory[one.own, one.currency].append(one)
    rows = list(Price.objects.order_by("pk"))
    overlaps = _overlaps(rows)
    return PricesInUse([PriceUse(row, of_price[row.pk], overlaps[row.pk]) for row in rows], dict(inventory), unpriced)


def _running(at: datetime) -> list[Running]:
    with connection.cursor() as cursor:
        cursor.execute(
            """SELECT i.id, a.name, i.external_id, p.price_per_hour, coalesce(p.currency, '')
               FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
               LEFT JOIN LATERAL (SELECT price_per_hour, currency FROM billing_instanceprice
                                  WHERE instance_id = i.id AND valid_from <= %s ORDER BY valid_from DESC LIMIT 1) p
                   ON true
               WHERE i.state IN ('running', 'stopping') ORDER BY i.external_id""",
            [at],
        )
        return [Running(*row) for row in cursor.fetchall()]


def _overlaps(rows: Sequence[Price]) -> defaultdict[int, list[int]]:
    """Give, for each declared price, the others of the same thing that hold at some same time."""
    same: defaultdict[tuple[object, ...], list[Price]] = defaultdict(list)
    for row in rows:
        if not row.is_suggested:
            key = (row.provider, row.sku, row.gpu_model, row.gpu_count, row.region, row.purchase_option, row.unit)
            same[key].append(row)
    found: defaultdict[int, list[int]] = defaultdict(list)
    for group in same.values():
        for one in group:
            for other in group:
                if one is not other and _meet(one, other):
                    found[one.pk].append(other.pk)
    return found


def _meet(one: Price, other: Price) -> bool:
    return (one.valid_to is None or other.valid_from < one.valid_to) and (
        other.valid_to is None or one.valid_from < other.valid_to
    )
