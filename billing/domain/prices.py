"""Which price holds for an instance: the most specific one in force. What has none is unpriced, never 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache

from fleet.domain.gpu_models import canonical
from fleet.domain.price_subject import PriceSubject

ON_DEMAND = "on_demand"


@dataclass(frozen=True)
class Listed:
    """A price as declared or listed; empty text and None match anything.

    ``unit``: instance_hour, gpu_hour, gb_month.
    """

    unit: str
    price: Decimal
    currency: str
    valid_from: datetime
    valid_to: datetime | None = None
    provider: str = ""
    sku: str = ""
    gpu_model: str = ""
    gpu_count: int | None = None
    region: str = ""
    purchase_option: str = ""
    source: str = ""
    source_date: date | None = None
    is_suggested: bool = False  # from the shipped book: a list price; a declared one always wins
    key: int = 0  # row id: settles what is equal otherwise


@dataclass(frozen=True)
class Hourly:
    """What an instance costs per hour in which it runs."""

    per_hour: Decimal
    currency: str
    source: str
    is_list_price: bool = False
    source_date: date | None = None


@dataclass(frozen=True)
class Segment:
    """A stretch [start, end) with one price, or none; ``end`` None: without end."""

    start: datetime
    end: datetime | None
    price: Hourly | None


def fits(listed: Listed, subject: PriceSubject) -> bool:
    """Whether the price may be used for the subject.

    What the inventory does not tell contradicts nothing, as long as the SKU or the GPU model agree. An unknown
    purchase option is taken as on demand. A listed price is for its provider only, and one without provider for
    hosts without.
    """
    if listed.is_suggested and _plain(listed.provider) != _plain(subject.provider):
        return False
    option = subject.purchase_option or ON_DEMAND
    told = (
        (listed.provider, subject.provider),
        (listed.sku, subject.sku),
        (_model(listed.gpu_model), _model(subject.gpu_model)),
        (listed.region, subject.region),
        (listed.purchase_option, option),
    )
    if any(wanted and known and _plain(wanted) != _plain(known) for wanted, known in told):
        return False
    if listed.gpu_count is not None and listed.unit == "instance_hour" and listed.gpu_count != subject.gpu_count:
        return False
    if listed.sku and subject.sku:
        return True
    if listed.gpu_model:
        return bool(subject.gpu_model) and (not listed.sku or listed.gpu_count is not None)
    return not listed.sku


@lru_cache(maxsize=4096)
def _model(name: str) -> str:
    """Give the one spelling of a GPU model."""
    return canonical(name)


def _plain(text: str) -> str:
    return text.strip().casefold()


def specificity(listed: Listed, subject: PriceSubject) -> tuple[int, ...]:
    """Give what a price is ranked by: declared over listed, then SKU, region, option, count, model, provider."""
    return (
        int(not listed.is_suggested),
        int(bool(listed.sku and subject.sku)),
        int(bool(listed.region and subject.region)),
        int(bool(listed.purchase_option and subject.purchase_option)),
        int(listed.gpu_count is not None and listed.gpu_count == subject.gpu_count),
        int(bool(listed.gpu_model)),
        int(bool(listed.provider)),
    )


def per_hour(listed: Listed, subject: PriceSubject) -> Decimal | None:
    """Give the price of the whole instance for an hour; None when the number of GPUs is not known."""
    if listed.unit == "instance_hour":
        return listed.price
    if listed.unit == "gpu_hour" and subject.gpu_count:
        return listed.price * subject.gpu_count
    return None


def choose(book: Iterable[Listed], subject: PriceSubject, at: datetime) -> Hourly | None:
    """Give the price in force at ``at``, as `chosen` finds it."""
    listed = chosen(book, subject, at)
    amount = per_hour(listed, subject) if listed else None
    if listed is None or amount is None:
        return None
    return Hourly(amount, listed.currency, listed.source, listed.is_suggested, listed.source_date)


def chosen(book: Iterable[Listed], subject: PriceSubject, at: datetime) -> Listed | None:
    """Give the price of the book that is in force at ``at``.

    Of several equally specific ones the one that began last holds; if the inventory does not tell enough to choose
    between declared prices that differ, there is none.
    """
    ranked: list[tuple[tuple[int, ...], datetime, Listed]] = []
    for listed in book:
        if listed.unit == "gb_month" or not _in_force(listed, at) or not fits(listed, subject):
            continue
        if per_hour(listed, subject) is not None:
            ranked.append((specificity(listed, subject), listed.valid_from, listed))
    if not ranked:
        return None
    best = max(rank[:2] for rank in ranked)
    equal = [listed for *rank, listed in ranked if tuple(rank) == best]
    offers = {(per_hour(listed, subject), listed.currency) for listed in equal}
    if len(offers) > 1 and not equal[0].is_suggested:
        return None
    return max(equal, key=lambda listed: listed.key)


def _in_force(listed: Listed, at: datetime) -> bool:
    return listed.valid_from <= at and (listed.valid_to is None or at < listed.valid_to)


def segments(
    starts: Iterable[datetime], since: datetime, until: datetime | None, price_at: Callable[[datetime], Hourly | None]
) -> list[Segment]:
    """Cut [since, until) where ``starts`` lie and ask for the price at each cut; equal neighbours are joined."""
    cuts = sorted({since, *(at for at in starts if since < at and (until is None or at < until))})
    found: list[Segment] = []
    for index, start in enumerate(cuts):
        end = cuts[index + 1] if index + 1 < len(cuts) else until
        price = price_at(start)
        if found and found[-1].price == price:
            found[-1] = Segment(found[-1].start, end, price)
        else:
            found.append(Segment(start, end, price))
    return found


def per_gb_month(
    book: Iterable[Listed], *, provider: str, sku: str, region: str, at: datetime
) -> tuple[Decimal, str] | None:
    """Give price and currency of a GB of disk for a month; None without one."""
    found: list[tuple[tuple[bool, ...], datetime, int, Listed]] = []
    for listed in book:
        told = ((listed.provider, provider), (listed.sku, sku), (listed.region, region))
        if (
            listed.unit == "gb_month"
            and _in_force(listed, at)
            and all(not wanted or _plain(wanted) == _plain(known) for wanted, known in told)
        ):
            rank = (not listed.is_suggested, bool(listed.sku), bool(listed.region), bool(listed.provider))
            found.append((rank, listed.valid_from, listed.key, listed))
    if not found:
        return None
    best = max(found, key=lambda entry: entry[:3])[3]
    return best.price, best.currency


def in_force_at(spans: Sequence[Segment], at: datetime) -> Hourly | None:
    """Give the price of the segment that holds ``at``."""
    return next((one.price for one in spans if one.start <= at and (one.end is None or at < one.end)), None)
