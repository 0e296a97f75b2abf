"""Keep the suggested prices of the database equal to the shipped book."""

from __future__ import annotations

from datetime import UTC, date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

from django.db import transaction

from billing.domain.price_book import BookRow, read_book
from billing.models import Price
from common.periods import BEGINNING

BOOK = Path(__file__).resolve().parent.parent / "data" / "price_book.csv"
COLUMNS = (
    "provider", "sku", "gpu_model", "gpu_count", "region", "purchase_option", "unit", "price", "currency", "valid_from",
    "valid_to", "source", "source_date",
)  # fmt: skip


def load_suggested() -> int:
    """Make the suggested prices be those of the book; give how many rows changed. Equal ones stay as they are."""
    with BOOK.open(encoding="utf-8", newline="") as lines:
        wanted = {_values(row) for row in read_book(lines)}
    present = {
        tuple(values): key for key, *values in Price.objects.filter(is_suggested=True).values_list("pk", *COLUMNS)
    }
    gone = [key for values, key in present.items() if values not in wanted]
    fresh = sorted(wanted - present.keys(), key=str)
    if not gone and not fresh:
        return 0
    with transaction.atomic():
        Price.objects.filter(pk__in=gone).delete()
        Price.objects.bulk_create(
            Price(**dict(zip(COLUMNS, values, strict=True)), is_suggested=True) for values in fresh
        )
    return len(gone) + len(fresh)


def _values(row: BookRow) -> tuple[Any, ...]:
    price = row.price.quantize(Decimal(1).scaleb(-18))
    return (
        row.provider, row.sku, row.gpu_model, row.gpu_count, row.region, row.purchase_option, row.unit, price,
        row.currency, _midnight(row.valid_from) or BEGINNING, _midnight(row.valid_to), row.source, row.source_date,
    )  # fmt: skip


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time.min, tzinfo=UTC) if day else None
