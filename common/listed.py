"""Rows of a table, arranged as the address asks, and what a page shows of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from typing import Any

from common.cells import AMOUNTS, Kind, Money, money_of, order_of, value_of, words_of
from common.listing import Asked, Column, TableSpec


@dataclass(frozen=True)
class Total:
    """A sum over all filtered rows: ``value`` of a number or span, ``money`` by currency without ``unpriced`` rows."""

    value: Any = None
    money: Mapping[str, Decimal] = field(default_factory=dict)
    unpriced: int = 0


@dataclass(frozen=True)
class Heading:
    """A column's head: ``href`` sorts by it; ``sorted``: "", ascending or descending."""

    column: Column
    href: str
    sorted: str


@dataclass(frozen=True)
class Listing:
    """What `kit/table.html` shows: one page of ``rows``, and of all filtered ones their ``count`` and ``totals``."""

    asked: Asked
    rows: Sequence[Any]
    count: int
    totals: Mapping[str, Any]

    @property
    def spec(self) -> TableSpec:
        """The table."""
        return self.asked.spec

    @property
    def headings(self) -> list[Heading]:
        """The heads of the columns of the page."""
        return [self._heading(column) for column in self.spec.for_page]

    def _heading(self, column: Column) -> Heading:
        asked = self.asked
        if not column.sortable:
            return Heading(column, "", "")
        is_on = asked.sort == column.key
        # The first click shows the largest number, the newest time, the first name.
        first_down = column.kind not in {Kind.TEXT, Kind.CODE, Kind.LINK, Kind.STATE, Kind.BADGE}
        down = not asked.descending if is_on else first_down
        direction = ("descending" if asked.descending else "ascending") if is_on else ""
        return Heading(column, asked.query(sort=f"-{column.key}" if down else column.key), direction)

    @property
    def has_totals(self) -> bool:
        """Whether there is a row of totals."""
        return bool(self.totals) and self.count > 1

    @property
    def first(self) -> int:
        """The place of the first row of this page, from 1."""
        return self.asked.offset + 1 if self.rows else 0

    @property
    def last(self) -> int:
        """The place of the last row of this page."""
        return self.asked.offset + len(self.rows)

    @property
    def pages(self) -> int:
        """How many pages there are."""
        return max(1, -(-self.count // self.spec.page_size))

    @property
    def previous(self) -> str:
        """The address of the page before, or ""."""
        return self.asked.query(page=min(self.asked.page - 1, self.pages)) if self.asked.page > 1 else ""

    @property
    def next(self) -> str:
        """The address of the page after, or ""."""
        return self.asked.query(page=self.asked.page + 1) if self.asked.page < self.pages else ""

    @property
    def files(self) -> dict[str, str]:
        """The addresses of this table as files, with all its filters."""
        return {form.replace("-", "_"): self.asked.query(**{"as": form}) for form in ("csv", "csv-raw", "xlsx")}

    @property
    def all_rows(self) -> str:
        """The address without the search."""
        return self.asked.query(q="")


def arranged(rows: Iterable[Any], asked: Asked) -> list[Any]:
    """Give the rows that have every word searched for, in the order asked for: all of them, as a file wants them."""
    found = [row for row in rows if _has_words(row, asked)]
    if not asked.sort:
        return found
    column = asked.spec.column(asked.sort)
    keyed = [(order_of(Kind(column.kind), _value(row, column)), row) for row in found]
    known = sorted((one for one in keyed if one[0] is not None), key=lambda one: one[0], reverse=asked.descending)
    return [row for _, row in known] + [row for key, row in keyed if key is None]


def listed(rows: Iterable[Any], asked: Asked, totals: Mapping[str, Any] | None = None) -> Listing:
    """Search, order, sum and cut ``rows`` in Python. ``totals``: by key, where a sum is not the right total."""
    found = arranged(rows, asked)
    cut = found[asked.offset : asked.offset + asked.spec.page_size]
    return Listing(asked, cut, len(found), totals_of(found, asked.spec) | dict(totals or {}))


def paged(rows: Sequence[Any], asked: Asked, *, count: int, totals: Mapping[str, Any] | None = None) -> Listing:
    """Give a page that a query has cut: ``rows`` of the page, ``count`` and ``totals`` of all filtered ones.

    A total is a number, a timedelta, or a `Total` for money.
    """
    return Listing(asked, rows, count, totals or {})


def totals_of(rows: Iterable[Any], spec: TableSpec) -> dict[str, Total]:
    """Sum the columns that have a total over all of ``rows``; nothing known is no total, never zero."""
    columns = [column for column in spec.columns if column.total]
    sums: dict[str, Total] = {}
    if not columns:
        return sums
    listed_rows = list(rows)
    for column in columns:
        values = [_value(row, column) for row in listed_rows]
        sums[column.key] = _money_total(values) if column.kind in AMOUNTS else _plain_total(values)
    return sums


def _plain_total(values: Iterable[Any]) -> Total:
    known = [value for value in values if value is not None]
    if not known:
        return Total()
    start: Any = timedelta(0) if isinstance(known[0], timedelta) else 0
    return Total(sum(known, start))


def _money_total(values: Iterable[Money]) -> Total:
    money: dict[str, Decimal] = {}
    unpriced = 0
    for one in values:
        if one.amount is None:
            unpriced += 1
        else:
            money[one.currency] = money.get(one.currency, Decimal(0)) + one.amount
    return Total(money=money, unpriced=unpriced)


def _value(row: Any, column: Column) -> Any:
    value = value_of(row, column.key)
    if column.kind in AMOUNTS:
        return money_of(value, str(value_of(row, column.currency) or ""))
    return value


def _has_words(row: Any, asked: Asked) -> bool:
    if not asked.words:
        return True
    parts = [words_of(Kind(column.kind), value_of(row, column.key)) for column in asked.spec.columns]
    parts += [str(value_of(row, column.note) or "") for column in asked.spec.columns if column.note]
    text = " ".join(parts).casefold()
    return all(word in text for word in asked.words)
