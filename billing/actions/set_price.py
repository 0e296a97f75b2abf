"""Set a price by hand, and end one: rows like those that `apply` writes. Who moves the past has to say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import Q

from billing.actions.declare_prices import ENDED, KEY
from billing.actions.reprice import mark_priced
from billing.models import Price
from common.errors import BadInput, Refused
from common.money import plain
from common.periods import iso
from people.actions.audit import record


@dataclass(frozen=True)
class NewPrice:
    """What is set. ``key``: provider, sku, gpu_model, gpu_count, region, purchase_option, unit, currency."""

    key: Mapping[str, Any]
    price: Decimal
    valid_from: datetime
    valid_to: datetime | None
    source: str
    source_date: date | None = None


@transaction.atomic
def set_price(*, now: datetime, by: str, new: NewPrice, month_start: datetime, moves_past: bool) -> Price:
    """Add a price that holds from ``valid_from``; one that was set by hand for the same thing ends there.

    Raises BadInput (bad_period, blank), Refused (managed_by_file, overlapping_prices), and past_moves when it begins
    before ``month_start`` and nobody has said that past months may move.
    """
    if new.valid_to is not None and new.valid_to <= new.valid_from:
        raise BadInput("bad_period", "The price ends before it begins.", hint="Give a later end, or none.")
    if not new.key.get("sku") and not new.key.get("gpu_model"):
        raise BadInput("blank", "Neither an instance type nor a GPU model is given.", hint="Give one of them.")
    if new.valid_from < month_start and not moves_past:
        raise Refused(
            "past_moves", "It begins before this month, so months that are over would move.",
            hint="Say that past months may move, or begin this month.",
        )  # fmt: skip
    until = Q() if new.valid_to is None else Q(valid_from__lt=new.valid_to)
    same = Price.objects.select_for_update().filter(is_suggested=False, **_filter(new.key)).filter(until)
    same = same.filter(Q(valid_to=None) | Q(valid_to__gt=new.valid_from))
    for row in same:
        _give_way(row, new)
    made = Price.objects.create(
        **{name: new.key.get(name) if name == "gpu_count" else new.key.get(name) or "" for name in KEY},
        price=new.price, valid_from=new.valid_from, valid_to=new.valid_to, source=new.source,
        source_date=new.source_date,
    )  # fmt: skip
    mark_priced(since=new.valid_from, until=new.valid_to)
    record(
        now=now, by=by, action="set_price", subject_kind="price", subject=str(made)[:300], price=plain(new.price),
        valid_from=iso(new.valid_from), valid_to=iso(new.valid_to) if new.valid_to else None, id=made.pk,
    )  # fmt: skip
    return made


@transaction.atomic
def end_price(*, now: datetime, by: str, price_id: int) -> None:
    """End a price that was set by hand. Raises BadInput (no_such_price), Refused (managed_by_file)."""
    row = Price.objects.select_for_update().filter(pk=price_id, is_suggested=False).first()
    if row is None or (row.valid_to is not None and row.valid_to <= now):
        raise BadInput("no_such_price", "There is no such price that still holds.", hint="Load the page again.")
    if row.declared is not None:
        raise _managed()
    since = max(now, row.valid_from)
    record(
        now=now, by=by, action="end_price", subject_kind="price", subject=str(row)[:300], at=iso(since), id=row.pk
    )  # fmt: skip
    if row.valid_from >= now:
        row.delete()
    else:
        row.valid_to = now
        row.save()
    mark_priced(since=since)


def _give_way(row: Price, new: NewPrice) -> None:
    """End a price of the same thing where the new one begins, if a hand set it and it began before."""
    if row.declared is not None and row.declared != ENDED:
        raise _managed()
    if row.valid_from >= new.valid_from or row.valid_to is not None:
        raise Refused(
            "overlapping_prices", f"A price of the same thing holds from {iso(row.valid_from)} on.",
            hint="End that one first, or let this one end where it begins.",
        )  # fmt: skip
    row.valid_to = new.valid_from
    row.save()


def _filter(key: Mapping[str, Any]) -> dict[str, Any]:
    return {name: key.get(name) if name == "gpu_count" else key.get(name) or "" for name in KEY}


def _managed() -> Refused:
    return Refused("managed_by_file", "fleet.yaml manages this price.", hint="Change it there and apply it again.")
