"""Keep the prices that inventories give for their instances, with the time from which each holds."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import Protocol

from django.db import transaction

from billing.models import InstancePrice
from common.periods import BEGINNING
from fleet.actions.remetered import mark_remetered
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
    written = 0
    with transaction.atomic():
        for one in observed:
            if one.instance_id is None:
                continue
            before, currency = newest.get(one.instance_id), one.currency or home
            if before is None and one.price_per_hour is None:
                continue
            if before is not None and (before.price_per_hour, before.currency) == (one.price_per_hour, currency):
                continue
            start = BEGINNING if before is None else _change_at(one.effective_from, before.valid_from, now)
            InstancePrice.objects.filter(instance_id=one.instance_id, valid_from__gt=start).delete()
            InstancePrice.objects.update_or_create(
                instance_id=one.instance_id,
                valid_from=start,
                defaults={"price_per_hour": one.price_per_hour, "currency": currency},
            )
            mark_remetered(since=start, instance_ids=[one.instance_id])
            written += 1
    return written


def _change_at(named: datetime, before: datetime, now: datetime) -> datetime:
    """Give the time from which a change holds: the named one, if that is a real time later than the price before."""
    return named if BEGINNING < named <= now and named > before else now
