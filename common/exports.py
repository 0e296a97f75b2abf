"""A table as a file: all filtered rows, streamed, in memory that does not grow with them.

``csv`` is for spreadsheets: a mark at the start, the labels of the page, no cell that would run as a formula.
``csv-raw`` is for programs: plain keys, exact decimals, ISO times in UTC, durations in seconds, text as it is.
``xlsx``: numbers as numbers, times as times, text as text; no formulas and no links.
Money stands with a column for its currency. What is not known is an empty cell. Nothing stands after the last row:
totals are on the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from decimal import Decimal
from math import isnan
from typing import Any

from django.http import StreamingHttpResponse
from django.utils.translation import gettext as _

from common.cells import AMOUNTS, Badge, Kind, Link, money_of, value_of
from common.csv_files import csv_lines, plain_lines
from common.listing import Asked, Column, TableSpec
from common.periods import iso
from common.state_words import STATE_WORDS
from common.workbooks import workbook_chunks

_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "csv-raw": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_SUFFIXES = {"csv": ".csv", "csv-raw": "-machine.csv", "xlsx": ".xlsx"}


@dataclass(frozen=True)
class Field:
    """A column of a file: ``part`` is "currency" of an amount, or a part of a mix."""

    column: Column
    part: str = ""

    @property
    def key(self) -> str:
        """Its name for programs, with its unit."""
        if self.part == "currency":
            return self.column.currency
        if self.part:
            return f"{self.column.key}_{self.part}"
        unit = {Kind.SPAN: "_seconds", Kind.PERCENT: "_pct", Kind.PER_HOUR: "_per_hour"}.get(Kind(self.column.kind), "")
        return self.column.key if self.column.key.endswith(unit) else self.column.key + unit

    def label(self, zone: tzinfo) -> str:
        """Its name for people, with its unit."""
        name, kind = str(self.column.label), self.column.kind
        if self.part == "currency":
            return _("Currency")
        if self.part:
            return f"{name}: {STATE_WORDS.get(self.part, self.part)}"
        units = {Kind.SPAN: _("hours"), Kind.PERCENT: "%", Kind.PER_HOUR: _("an hour"), Kind.MOMENT: str(zone)}
        return f"{name} ({units[Kind(kind)]})" if kind in units else name

    def value(self, row: Any) -> Any:
        """Give the value of ``row``: text, number, Decimal, timedelta, datetime or None."""
        value = value_of(row, self.column.key)
        if self.column.kind in AMOUNTS:
            money = money_of(value, str(value_of(row, self.column.currency) or ""))
            return money.currency if self.part == "currency" else money.amount
        if self.part:
            return (value or {}).get(self.part)
        return value.text if isinstance(value, Link) else value


def file_answer(
    spec: TableSpec, rows: Iterable[Any], asked: Asked, filename: str, zone: tzinfo = UTC
) -> StreamingHttpResponse:
    """Send ``rows`` (all filtered ones, best from an iterator) as ``asked.as_file``; ``filename`` has no suffix.

    ``zone``: of the times in the forms for spreadsheets.
    """
    fields = fields_of(spec)
    if asked.as_file == "xlsx":
        body: Iterator[bytes] = workbook_chunks(
            [one.label(zone) for one in fields], _typed_rows(rows, fields, zone), spec.name
        )
    elif asked.as_file == "csv-raw":
        body = _encoded(plain_lines(_machine_rows(rows, fields)))
    else:
        body = _encoded(csv_lines(_people_rows(rows, fields, zone)))
    answer = StreamingHttpResponse(body, content_type=_TYPES[asked.as_file or "csv"])
    name = f"fleetledger-{filename}{_SUFFIXES[asked.as_file or 'csv']}"
    answer["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


def fields_of(spec: TableSpec) -> list[Field]:
    """Give the columns of a file: a mix in its parts, before the first amount of each currency key the currency."""
    fields: list[Field] = []
    told: set[str] = {column.key for column in spec.columns}
    for column in (one for one in spec.columns if one.in_file):
        if column.kind is Kind.MIX:
            fields += [Field(column, part) for part in column.parts]
            continue
        if column.kind in AMOUNTS and column.currency not in told:
            told.add(column.currency)
            fields.append(Field(column, "currency"))
        fields.append(Field(column))
    return fields


def _machine_rows(rows: Iterable[Any], fields: Sequence[Field]) -> Iterator[list[str]]:
    yield [one.key for one in fields]
    for row in rows:
        yield [_exact(one.value(row)) for one in fields]


def _exact(value: Any) -> str:
    """Write for programs: exact, and unknown as nothing."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}" if value else "0"
        case datetime():
            return iso(value)
        case timedelta():
            return str(int(value.total_seconds()))
        case Badge():
            return value.key or str(value.text)
        case _:
            return str(value)


def _people_rows(rows: Iterable[Any], fields: Sequence[Field], zone: tzinfo) -> Iterator[list[str]]:
    yield [one.label(zone) for one in fields]
    for row in rows:
        yield [_readable(value) for value in _typed(row, fields, zone)]


def _readable(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M:%S}"
    return _exact(value)


def _typed_rows(rows: Iterable[Any], fields: Sequence[Field], zone: tzinfo) -> Iterator[list[Any]]:
    for row in rows:
        yield _typed(row, fields, zone)


def _typed(row: Any, fields: Sequence[Field], zone: tzinfo) -> list[Any]:
    """Give values as a spreadsheet has them: words of states, hours of spans, times of the zone without it."""
    return [_spreadsheet(one.column, one.value(row), zone) for one in fields]


def _spreadsheet(column: Column, value: Any, zone: tzinfo) -> Any:
    match value:
        case datetime():
            return value.astimezone(zone).replace(tzinfo=None)
        case timedelta():
            return round(value.total_seconds() / 3600, 4)
        case Badge():
            return str(value.text)
        case str() if column.kind is Kind.STATE:
            return str(STATE_WORDS.get(value, value))
        case float() if isnan(value):
            return None
        case _:
            return value


def _encoded(lines: Iterable[str]) -> Iterator[bytes]:
    """Send lines in pieces of some kilobytes: one piece per row would cost more than the row."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size > 32_768:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    yield "".join(waiting).encode()
