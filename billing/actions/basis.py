"""Notice that prices or the zone of days have changed, whoever changed them, and mark what rests on them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db import connection, transaction

from billing.actions.reprice import mark_priced
from billing.actions.team_days import mark_days
from billing.models import Price, PricingBasis
from common.periods import BEGINNING
from people.queries import organization

Basis = Mapping[str, list[str | None]]
"""Row id of a price -> [valid_from, valid_to, digest of what it says]."""


@transaction.atomic
def follow_changes() -> None:
    """Compare what holds now with what the stored costs rest on; mark hours and days from the first difference on."""
    basis = PricingBasis.objects.select_for_update().get_or_create(pk=1)[0]
    prices, zone = _current(), organization().time_zone
    span = _changed_span(basis.prices, prices)
    if span is not None:
        mark_priced(since=span[0], until=span[1])
    if basis.time_zone and basis.time_zone != zone:
        mark_days(_metered_days())
    if span is not None or basis.time_zone != zone:
        basis.prices, basis.time_zone = dict(prices), zone
        basis.save()


def _current() -> Basis:
    found: dict[str, list[str | None]] = {}
    for row in Price.objects.all():
        says = (
            row.provider, row.sku, row.gpu_model, row.gpu_count, row.region, row.purchase_option, row.unit, row.price,
            row.currency, row.is_suggested,
        )  # fmt: skip
        digest = hashlib.sha256(repr(says).encode()).hexdigest()[:16]
        end = row.valid_to.isoformat() if row.valid_to else None
        found[str(row.pk)] = [row.valid_from.isoformat(), end, digest]
    return found


def _changed_span(before: Basis, now: Basis) -> tuple[datetime, datetime | None] | None:
    """Give the time in which some price differs: from its first moment to its last (None: without end)."""
    starts: list[datetime] = []
    ends: list[datetime | None] = []
    for key in before.keys() | now.keys():
        old, new = before.get(key), now.get(key)
        if old == new:
            continue
        if old and new and old[0] == new[0] and old[2] == new[2]:  # only its end has moved
            moved = [datetime.fromisoformat(end) for end in (old[1], new[1]) if end]
            starts.append(min(moved))
            ends.append(max(moved) if len(moved) == 2 else None)
            continue
        for side in (old, new):
            if side:
                starts.append(datetime.fromisoformat(side[0] or BEGINNING.isoformat()))
                ends.append(datetime.fromisoformat(side[1]) if side[1] else None)
    if not starts:
        return None
    return min(starts), None if None in ends else max(end for end in ends if end is not None)


def _metered_days() -> list[datetime]:
    """Give a moment of every day that has GPU-hours."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(hour), max(hour) FROM fleet_gpuhour")
        first, last = cursor.fetchone() or (None, None)
    if first is None:
        return []
    days = (last - first) // timedelta(days=1) + 2
    return [first + timedelta(days=index) for index in range(-1, days)]
