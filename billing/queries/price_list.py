"""The list of declared and suggested prices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from billing.models import Price
from common.money import plain
from common.pages import Page, Slice
from common.periods import iso

TEXTS = ("provider", "sku", "gpu_model", "region", "purchase_option")


def prices_page(asked: Mapping[str, Any], part: Slice) -> Page:
    """Give a page of prices. ``asked``: provider, sku, gpu_model, region, unit, currency, suggested, valid_at."""
    rows = Price.objects.order_by("pk")
    for name in (*TEXTS, "unit", "currency"):
        if asked.get(name):
            rows = rows.filter(**{name: asked[name]})
    if "suggested" in asked:
        rows = rows.filter(is_suggested=asked["suggested"])
    if asked.get("valid_at"):
        at = asked["valid_at"]
        rows = rows.filter(Q(valid_to=None) | Q(valid_to__gt=at), valid_from__lte=at)
    if part.after is not None:
        rows = rows.filter(pk__gt=part.after)
    return part.page([(row.pk, _document(row)) for row in rows[: part.limit + 1]])


def _document(row: Price) -> dict[str, Any]:
    return {
        "id": row.pk,
        **{name: getattr(row, name) or None for name in TEXTS},
        "gpu_count": row.gpu_count,
        "unit": row.unit,
        "price": plain(row.price),
        "currency": row.currency,
        "valid_from": iso(row.valid_from),
        "valid_to": iso(row.valid_to) if row.valid_to else None,
        "source": row.source,
        "source_date": row.source_date.isoformat() if row.source_date else None,
        "is_suggested": row.is_suggested,
    }
