"""What the large lists have in common: which rows are asked for, and questions that are put together from parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson
from django.db import connection

CHUNK = 500  # rows that a file reads at a time


@dataclass(frozen=True)
class Cut:
    """Which rows: ``sort`` names one of the list's orders, ``limit`` None for all of them."""

    sort: str = ""
    descending: bool = False
    limit: int | None = None
    offset: int = 0

    def order(self, sorts: Mapping[str, str]) -> str:
        """Give what stands behind ORDER BY, with a comma at its end; what is not known goes last."""
        if self.sort not in sorts:
            return ""
        way = "DESC" if self.descending else "ASC"
        return f"{sorts[self.sort].format(way=way)} {way} NULLS LAST, "

    @property
    def page(self) -> str:
        """Give LIMIT and OFFSET."""
        return "" if self.limit is None else f"LIMIT {self.limit:d} OFFSET {self.offset:d}"


def named(sql: str, values: Sequence[Any], prefix: str, names: dict[str, Any]) -> str:
    """Give the SQL with named parameters in place of its %s, so that it can stand in several places of a question."""
    parts = sql.split("%s")
    assert len(parts) == len(values) + 1
    found = parts[0]
    for number, (value, part) in enumerate(zip(values, parts[1:], strict=True)):
        names[f"{prefix}{number}"] = value
        found += f"%({prefix}{number})s{part}"
    return found


def read(query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """Ask a question with named parameters."""
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
        return rows


def money_by_currency(found: str | Mapping[str, str] | None) -> dict[str, Decimal]:
    """Read a JSON object of currency -> amount as text."""
    values: Mapping[str, str] = orjson.loads(found) if isinstance(found, str) else found or {}
    return {currency: Decimal(amount) for currency, amount in sorted(values.items())}
