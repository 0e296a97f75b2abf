"""The shipped selection of list prices, read from its file: each row with source and date."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal


@dataclass(frozen=True)
class BookRow:
    """One row; dates are days in UTC, ``valid_from`` None: as far back as anything goes."""

    provider: str
    sku: str
    gpu_model: str
    gpu_count: int | None
    region: str
    purchase_option: str
    unit: str
    price: Decimal
    currency: str
    valid_from: date | None
    valid_to: date | None
    source: str
    source_date: date | None


def read_book(lines: Iterable[str]) -> Iterator[BookRow]:
    """Read the CSV text. A source's date may be a month or a year: then it is its first day."""
    for row in csv.DictReader(lines):
        yield BookRow(
            provider=row["provider"],
            sku=row["sku"],
            gpu_model=row["gpu_model"],
            gpu_count=int(row["gpu_count"]) if row["gpu_count"] else None,
            region=row["region"],
            purchase_option=row["purchase_option"],
            unit=row["unit"],
            price=Decimal(row["price"]),
            currency=row["currency"],
            valid_from=_day(row["valid_from"]),
            valid_to=_day(row["valid_to"]),
            source=row["source"],
            source_date=_day(row["source_date"]),
        )


def _day(text: str) -> date | None:
    if not text:
        return None
    parts = [int(part) for part in text.split("-")]
    return date(*[*parts, 1, 1][:3])
