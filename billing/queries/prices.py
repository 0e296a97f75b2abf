"""Prices of instances over time: the inventory's own, else declared, else the suggested book."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal

from billing.domain.prices import Hourly, Listed, Segment, choose, per_gb_month, segments
from billing.models import InstancePrice, Price
from common.periods import BEGINNING
from fleet.domain.ports import HourlyPrice
from fleet.domain.price_subject import PriceSubject
from fleet.queries.price_subjects import price_subjects


class Prices:
    """Prices of a set of instances (None: all), read once; implements `fleet.domain.ports.PriceLookup`.

    ``listed``: the price list to look them up in; None: the one of now.
    """

    def __init__(self, instance_ids: Collection[int] | None = None, listed: Sequence[Listed] | None = None) -> None:
        self.book = book() if listed is None else listed
        self._starts = sorted({at for one in self.book for at in (one.valid_from, one.valid_to) if at is not None})
        self._own = _own_prices(instance_ids)
        self._subjects = price_subjects(instance_ids)
        self._listed: dict[PriceSubject, list[Segment]] = {}
        self._spans: dict[int, list[Segment]] = {}

    @property
    def instances(self) -> Collection[int]:
        """The instances whose attributes were read."""
        return self._subjects.keys()

    def prices(self, instance_ids: Collection[int], at: datetime) -> Mapping[int, HourlyPrice]:
        """Give the price in force at ``at`` of each instance that has one; the others are unpriced."""
        found: dict[int, HourlyPrice] = {}
        for instance in instance_ids:
            price = next(iter(self.segments(instance, at, None)), Segment(at, None, None)).price
            if price is not None:
                found[instance] = HourlyPrice(
                    price.per_hour, price.currency, price.source, price.is_list_price, price.source_date
                )  # fmt: skip
        return found

    def segments(self, instance: int, since: datetime, until: datetime | None) -> Sequence[Segment]:
        """Give the stretches of one price each that cover [since, until), not clipped to it."""
        spans = self._spans.get(instance)
        if spans is None:
            spans = self._spans[instance] = self._all_segments(instance)
        first = max(bisect_right(spans, since, key=lambda span: span.start) - 1, 0)
        last = len(spans) if until is None else first
        while until is not None and last < len(spans) and spans[last].start < until:
            last += 1
        return spans[first:last]

    def _all_segments(self, instance: int) -> list[Segment]:
        own = self._own.get(instance, [])
        subjects = self._subjects.get(instance) or [(BEGINNING, PriceSubject())]
        starts = {at for at, _, _ in own} | {at for at, _ in subjects}
        listed = [(at, self._listed_segments(subject)) for at, subject in subjects]
        for _, spans in listed:
            starts.update(span.start for span in spans)

        def price_at(at: datetime) -> Hourly | None:
            given = next(((amount, currency) for start, amount, currency in reversed(own) if start <= at), None)
            if given is not None and given[0] is not None:
                return Hourly(given[0], given[1], "inventory")
            spans = next((spans for start, spans in reversed(listed) if start <= at), listed[0][1])
            return next(
                (span.price for span in spans if span.start <= at and (span.end is None or at < span.end)), None
            )

        return segments(starts, BEGINNING, None, price_at)

    def _listed_segments(self, subject: PriceSubject) -> list[Segment]:
        """Give the listed prices of a kind of instance; machines of one kind share them."""
        if subject not in self._listed:
            self._listed[subject] = segments(self._starts, BEGINNING, None, lambda at: choose(self.book, subject, at))
        return self._listed[subject]

    def subject_at(self, instance: int, at: datetime) -> PriceSubject:
        """Give what prices of an instance are looked up by at a time."""
        subjects = self._subjects.get(instance) or [(BEGINNING, PriceSubject())]
        return next((one for start, one in reversed(subjects) if start <= at), subjects[0][1])

    def gb_month(self, instance: int, sku: str, at: datetime) -> tuple[Decimal, str] | None:
        """Give price and currency of a GB-month of the disk kind ``sku`` where the instance is; None: unpriced."""
        subject = self.subject_at(instance, at)
        return per_gb_month(self.book, provider=subject.provider, sku=sku, region=subject.region, at=at)

    def gb_month_starts(self) -> Iterable[datetime]:
        """Give the times at which a price per GB-month may change."""
        return sorted(
            {
                at
                for one in self.book
                if one.unit == "gb_month"
                for at in (one.valid_from, one.valid_to)
                if at is not None
            }
        )


def book() -> list[Listed]:
    """Read every declared and listed price."""
    return [listed_price(row) for row in Price.objects.order_by("pk")]


def listed_price(row: Price) -> Listed:
    """Give the price of a row."""
    return Listed(
        unit=row.unit,
        price=row.price,
        currency=row.currency,
        valid_from=row.valid_from,
        valid_to=row.valid_to,
        provider=row.provider,
        sku=row.sku,
        gpu_model=row.gpu_model,
        gpu_count=row.gpu_count,
        region=row.region,
        purchase_option=row.purchase_option,
        source=row.source,
        source_date=row.source_date,
        is_suggested=row.is_suggested,
        key=row.pk,
    )


def _own_prices(instance_ids: Collection[int] | None) -> dict[int, list[tuple[datetime, Decimal | None, str]]]:
    rows = InstancePrice.objects.order_by("instance_id", "valid_from")
    if instance_ids is not None:
        rows = rows.filter(instance_id__in=instance_ids)
    found: defaultdict[int, list[tuple[datetime, Decimal | None, str]]] = defaultdict(list)
    for instance, start, amount, currency in rows.values_list(
        "instance_id", "valid_from", "price_per_hour", "currency"
    ):
        found[instance].append((start, amount, currency))
    return found
