"""Prices: no two of one thing at one time."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

from config.declared.document import Document
from config.declared.nodes import Path

KEY = ("provider", "sku", "gpu_model", "gpu_count", "region", "purchase_option", "unit")


def check_prices(document: Document) -> None:
    """Refuse prices of the same thing and currency whose validity overlaps."""
    usual = document.section("organization").get("currency")
    prices: defaultdict[tuple[Any, ...], list[tuple[str, str, Path]]] = defaultdict(list)
    for path, price in document.listed("prices"):
        start, end = price.get("valid_from") or "", price.get("valid_to") or "9999"
        if end <= start:
            document.wrong(
                (*path, "valid_to"), "period_backwards", "It ends before it begins.", "Mend valid_from or valid_to."
            )
            continue
        if price.get("unit") == "gb_month" and price.get("price_per_hour") is not None:
            document.wrong(
                (*path, "price_per_hour"), "wrong_unit", "gb_month is no price per hour.", "Write price: instead."
            )
        key = (*(str(price.get(name) or "").casefold() for name in KEY), price.get("currency") or usual)
        prices[key].append((start, end, path))
    for own in prices.values():
        _check_overlaps(document, sorted(own, key=lambda one: one[:2]))


def _check_overlaps(document: Document, own: list[tuple[str, str, Path]]) -> None:
    """Compare each price with the one before it in time; told at the one that stands later in the file."""
    for (begin, end, before), (start, _, path) in pairwise(own):
        if start < end:
            first, second = sorted([before, path], key=lambda one: document.where(one).line or 0)
            message = f"This price holds at the same time as the one in line {document.where(first).line}."
            hint = (
                f"Give the earlier one valid_to: {start[:10]}."
                if start > begin
                else "Keep one, or let them hold at different times with valid_from and valid_to."
            )
            document.wrong(second, "overlapping_prices", message, hint)
