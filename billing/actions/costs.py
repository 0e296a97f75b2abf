"""Price what was metered: provisional cost of GPU-hours, of disks, and the team-days that they sum to.

What to price is in the marks that metering leaves. A chunk's costs, its removed marks and its stale days are one
transaction, so that a kill at any moment loses nothing and the next pass goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction

from billing.actions.basis import follow_changes
from billing.actions.cost_rows import write_gpu_costs, write_instance_costs
from billing.actions.price_book import load_suggested
from billing.actions.team_days import mark_days, refresh_team_days
from billing.domain.instance_hour import HourMoney, hour_money
from billing.queries.prices import Prices
from billing.queries.storage import Storage
from fleet.actions.remetered import take_remetered
from fleet.queries.gpu_hours import metered_until
from fleet.queries.presence import presence

HOUR = timedelta(hours=1)
CHUNK = 4_000  # instance-hours in one transaction
LOCK = "billing.price_hours"


@dataclass(frozen=True)
class PriceResult:
    """What a pass did: instance-hours priced, rows that changed, team-days made anew."""

    hours: int
    rows_written: int
    days: int


def price_hours(*, progress: Callable[[int], None] | None = None) -> PriceResult:
    """Price every instance-hour that was metered or repriced since the last pass; ``progress`` is told hours done."""
    load_suggested()
    follow_changes()
    hours = written = 0
    while True:
        chunk = _price_chunk()
        if chunk is None:
            break
        hours, written = hours + chunk[0], written + chunk[1]
        if progress is not None:
            progress(hours)
    days = refresh_team_days()
    return PriceResult(hours, written, days)


def _price_chunk() -> tuple[int, int] | None:
    """Price one chunk; (instance-hours, rows written), or None when nothing is marked."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [LOCK])
        taken = take_remetered(limit=CHUNK)
        if not taken:
            return None
        until = metered_until(taken)
        last = max(until.values(), default=max(max(hours) for hours in taken.values()))
        runs = presence(list(taken), until=last)
        prices = Prices(list(taken))
        moneys: dict[tuple[int, datetime], HourMoney] = {}
        for instance, hours in taken.items():
            for hour in hours:
                end = min(hour + HOUR, until.get(instance, hour + HOUR))
                moneys[instance, hour] = hour_money(
                    [(run.start, run.end, run.is_running, run.state) for run in runs.get(instance, ())],
                    prices.segments(instance, hour, end),
                    hour,
                    end,
                )
        written, bare = write_gpu_costs(moneys)
        storage = Storage(taken, runs, until, prices)
        written += write_instance_costs(list(moneys), storage, {key: moneys[key] for key in bare})
        mark_days(sorted({hour for hours in taken.values() for hour in hours}))
        return len(moneys), written
