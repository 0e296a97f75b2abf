"""What disks cost, hour by hour, by their owner at the time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

from billing.domain.hour_cost import running_units
from billing.queries.prices import Prices
from common.periods import EPOCH, odd_midnights
from fleet.queries.disks import Disk, disks_of
from fleet.queries.meter_owners import load_owners
from fleet.queries.presence import Presence
from people.queries import month_lengths, organization, organization_zone

HOUR = timedelta(hours=1)
MILLISECOND = timedelta(milliseconds=1)


@dataclass(frozen=True)
class StorageCost:
    """What the disks of an instance cost in an hour for one owner; ``units`` None: unpriced."""

    hour: datetime
    instance_id: int
    share: int
    part_start_minute: int
    team_id: int | None
    owner: str
    currency: str
    units: int | None


class Storage:
    """The disks of the instances of a chunk, and their prices."""

    def __init__(
        self,
        hours: Mapping[int, Sequence[datetime]],
        runs: Mapping[int, Sequence[Presence]],
        until: Mapping[int, datetime],
        prices: Prices,
    ) -> None:
        self._until, self._prices = until, prices
        last = max(until.values(), default=max(max(own) for own in hours.values()))
        self._disks = disks_of(runs, until=last, instance_ids=list(hours))
        self._home, self._months = organization().currency, month_lengths()
        self._month_starts = [at for at, _ in self._months]
        since = min(min(own) for own in hours.values())
        end = max(max(own) for own in hours.values()) + HOUR
        self._owners = load_owners(list(hours), since=since, until=end)
        self._midnights = odd_midnights(organization_zone(), since, end)
        self._price_starts = list(prices.gb_month_starts())

    def owner_at(self, instance: int, at: datetime) -> tuple[int | None, str]:
        """Give team and owner of an instance of the chunk at a time."""
        return self._owners.owner_of(instance, None, (at - EPOCH) // MILLISECOND)

    def costs(self, instance: int, hour: datetime) -> Iterator[StorageCost]:
        """Give what the instance's disks cost in the hour that starts at ``hour``."""
        end = min(hour + HOUR, self._until.get(instance, hour + HOUR))
        disks = [disk for disk in self._disks.get(instance, ()) if disk.start < end and disk.end > hour]
        if not disks:
            return
        changes = [EPOCH + at * MILLISECOND for at in self._owners.changes(instance)]
        midnight = next((at for at in self._midnights if hour < at < end), None)
        cuts = sorted({hour, end, *(at for at in [*changes, *self._midnights] if hour < at < end)})
        sums: defaultdict[tuple[int, int | None, str, str], int] = defaultdict(int)
        unpriced: set[tuple[int, int | None, str, str]] = set()
        for start, stop in pairwise(cuts):
            team, owner = self._owners.owner_of(instance, None, (start - EPOCH) // MILLISECOND)
            part = (midnight - hour) // timedelta(minutes=1) if midnight is not None and start >= midnight else 0
            for disk in disks:
                for currency, units in self._disk_units(instance, disk, start, stop):
                    key = (part, team, owner, currency)
                    if units is None:
                        unpriced.add(key)
                    else:
                        sums[key] += units
        for number, (part, team, owner, currency) in enumerate(sorted(sums.keys() | unpriced, key=str)):
            amount = sums.get((part, team, owner, currency))
            yield StorageCost(hour, instance, number, part, team, owner, currency, amount)

    def _disk_units(
        self, instance: int, disk: Disk, since: datetime, until: datetime
    ) -> Iterator[tuple[str, int | None]]:
        """Give the cost of a disk in [since, until), cut where its price changes: (currency, units or None)."""
        start, end = max(since, disk.start), min(until, disk.end)
        if start >= end:
            return
        looks_up = disk.price_per_gb_month is None
        starts = sorted({*self._month_starts, *(self._price_starts if looks_up else ())})
        for first, last in pairwise([start, *(at for at in starts if start < at < end), end]):
            found = self._price_of(instance, disk, first)
            if found is None:
                yield disk.currency or self._home, None
            else:
                begun_at = max([disk.begun_at, *(at for at in starts if at <= first)])
                yield found[1], self._units(disk.size_gb * found[0], begun_at, first, last)

    def _price_of(self, instance: int, disk: Disk, at: datetime) -> tuple[Decimal, str] | None:
        """Give the price of a GB and month, and its currency: the disk's own, else that of its sku."""
        if disk.price_per_gb_month is None:
            return self._prices.gb_month(instance, disk.sku, at)
        return disk.price_per_gb_month, disk.currency or self._currency_of(instance, at)

    def _units(self, per_month: Decimal, begun_at: datetime, since: datetime, until: datetime) -> int:
        """Give the growth of the running total since ``begun_at``: hours sum to the whole exactly."""
        length = next(hours for start, hours in reversed(self._months) if start <= begun_at)
        rate = Fraction(per_month) / Fraction(length)
        return running_units(rate, (since - begun_at) // MILLISECOND, (until - begun_at) // MILLISECOND)

    def _currency_of(self, instance: int, at: datetime) -> str:
        spans = self._prices.segments(instance, at, at + MILLISECOND)
        price = spans[0].price if spans else None
        return price.currency if price else self._home
