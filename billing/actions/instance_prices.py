"""Keep the prices that inventories give for their instances, with the time from which each holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from django.db import transaction

from billing.actions.reprice import mark_priced
from billing.models import InstancePrice
from common.periods import BEGINNING
from people.queries import organization


class Observed(Protocol):
    """What of `fleet.domain.inventory.ObservedInstance` matters here."""

    @property
    def instance_id(self) -> int | None:
        """Row id."""

    @property
    def price_per_hour(self) -> Decimal | None:
        """Price per hour of the instance; None: not given."""

    @property
    def currency(self) -> str:
        """Its currency; empty: the organisation's."""

    @property
    def effective_from(self) -> datetime:
        """Since when what the inventory says now holds."""


def record_observed(observed: Collection[Observed], *, now: datetime) -> int:
    """Keep what changed; give how many prices were written.

    The first price of an instance holds from the beginning of time, a later one from the time that the inventory
    names (``effective_from``) or from ``now``.
    """
    home = organization().currency
    ids = [one.instance_id for one in observed if one.instance_id is not None]
    newest = {
        row.instance_id: row
        for row in InstancePrice.objects.filter(instance_id__in=ids).order_by("instance_id", "valid_from")
    }
    new: list[InstancePrice] = []
    for one in observed:
        before, currency = newest.get(one.instance_id or 0), one.currency or home
        if one.instance_id is None or (before is None and one.price_per_hour is None):
            continue
        if before is not None and (before.price_per_hour, before.currency) == (one.price_per_hour, currency):
            continue
        start = BEGINNING if before is None else _change_at(one.effective_from, before.valid_from, now)
        new.append(
            InstancePrice(
                instance_id=one.instance_id, valid_from=start, price_per_hour=one.price_per_hour, currency=currency
            )
        )
    _write(new)
    return len(new)


def _write(new: Sequence[InstancePrice]) -> None:
    """Write prices; those that were to begin at or after one of them give way to it. Their hours are priced again."""
    starts: defaultdict[datetime, list[int]] = defaultdict(list)
    for row in new:
        starts[row.valid_from].append(row.instance_id)
    with transaction.atomic():
        for start, ids in starts.items():
            InstancePrice.objects.filter(instance_id__in=ids, valid_from__gte=start).delete()
            mark_priced(since=start, instance_ids=ids)
        InstancePrice.objects.bulk_create(new, batch_size=2000)


def _change_at(named: datetime, before: datetime, now: datetime) -> datetime:
    """Give the time from which a change holds: the named one, if that is a real time later than the price before."""
    return named if BEGINNING < named <= now and named > before else now
