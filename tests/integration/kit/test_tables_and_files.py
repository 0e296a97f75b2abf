"""The kit's tables: what an address asks, order, search, totals over all rows, and the same rows as files."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from xml.etree import ElementTree as ET
from zoneinfo import ZoneInfo

import pytest
from django.http import QueryDict

from common.cells import Badge, Kind, Link, Money
from common.errors import BadInput
from common.exports import file_answer
from common.listed import arranged, listed
from common.listing import Asked, Column, TableSpec, read_listing

SPEC = TableSpec(
    "things",
    (
        Column("name", "Name", Kind.LINK),
        Column("state", "State", Kind.STATE),
        Column("bill", "Bill", Kind.BADGE),
        Column("since", "Since", Kind.MOMENT),
        Column("idle_for", "Idle for", Kind.SPAN, total=True),
        Column("gpus", "GPUs", Kind.NUMBER, total=True),
        Column("working_pct", "Working", Kind.PERCENT),
        Column("money_by", "Money by state", Kind.MIX, parts=("working", "held")),
        Column("cost", "Cost", Kind.MONEY, total=True),
        Column("acts", "", sortable=False, in_file=False),
    ),
    default_sort="-cost",
    page_size=2,
)
AT = datetime(2025, 6, 1, 22, 30, tzinfo=UTC)
ROWS: list[dict[str, Any]] = [
    {
        "name": Link("=2+5", "/a/", "vision"), "state": "held", "bill": Badge("billed", "good", "check", "billed"),
        "since": AT, "idle_for": timedelta(hours=1, minutes=30), "gpus": 8, "working_pct": 41.25,
        "money_by": {"working": Decimal("1.50"), "held": Decimal(2)}, "cost": Money(Decimal("10.123456789"), "USD"),
    },
    {"name": Link("-box, 2"), "state": "working", "gpus": 4, "cost": Money(Decimal(7), "EUR")},
    {"name": Link("stray"), "state": "unknown", "gpus": None, "cost": Money(None, "")},
    {"name": Link("zeta"), "state": "empty", "gpus": 1, "cost": Money(Decimal("0.5"), "USD")},
]  # fmt: skip


def asked(address: str = "", spec: TableSpec = SPEC) -> Asked:
    return read_listing(QueryDict(address), spec)


def names(rows: Any) -> list[str]:
    return [row["name"].text for row in rows]


def sent(form: str) -> bytes:
    wish = asked(f"as={form}")
    answer = file_answer(SPEC, arranged(ROWS, wish), wish, "things", zone=ZoneInfo("Europe/Berlin"))
    assert answer.streaming
    return b"".join(answer)


def test_the_order_keeps_currencies_apart_and_unknown_last_both_ways() -> None:
    assert names(arranged(ROWS, asked())) == ["=2+5", "zeta", "-box, 2", "stray"]
    assert names(arranged(ROWS, asked("sort=cost"))) == ["-box, 2", "zeta", "=2+5", "stray"]
    assert names(arranged(ROWS, asked("sort=gpus"))) == ["zeta", "-box, 2", "=2+5", "stray"]
    assert names(arranged(ROWS, asked("sort=-gpus"))) == ["=2+5", "-box, 2", "zeta", "stray"]
    assert names(arranged(ROWS, asked("sort=state"))) == ["-box, 2", "=2+5", "zeta", "stray"]


def test_totals_are_over_all_rows_that_the_search_leaves_and_never_add_currencies() -> None:
    whole = listed(ROWS, asked())
    assert (whole.count, len(whole.rows), whole.pages) == (4, 2, 2)
    assert whole.totals["cost"].money == {"USD": Decimal("10.623456789"), "EUR": Decimal(7)}
    assert whole.totals["cost"].unpriced == 1
    assert whole.totals["gpus"].value == 13
    assert whole.totals["idle_for"].value == timedelta(minutes=90)
    some = listed(ROWS, asked("q=STRAY"))
    assert names(some.rows) == ["stray"]
    assert some.totals["gpus"].value is None, "nothing known is no total, not zero"
    assert names(listed(ROWS, asked("q=vision held")).rows) == ["=2+5"]
    assert listed(ROWS, asked("q=vision working")).count == 0


def test_addresses_keep_the_filters_and_forget_the_page_when_the_order_changes() -> None:
    table = listed(ROWS, asked("team=nlp&team=vision&page=2&q=e"))
    assert table.files["csv"] == "?team=nlp&team=vision&q=e&as=csv"
    heads = {head.column.key: head for head in table.headings}
    assert heads["name"].href == "?team=nlp&team=vision&q=e&sort=name"
    assert heads["cost"].sorted == "descending"
    assert heads["cost"].href == "?team=nlp&team=vision&q=e&sort=cost"
    assert heads["acts"].href == ""
    assert table.previous == "?team=nlp&team=vision&q=e"
    two = TableSpec("b", SPEC.columns, page_size=2, prefix="b-")
    assert asked("sort=cost&b-sort=-gpus&b-page=2", two).query(page=3) == "?sort=cost&b-sort=-gpus&b-page=3"


@pytest.mark.parametrize(
    ("address", "code"),
    [
        ("sort=acts", "unknown_column"), ("sort=password", "unknown_column"), ("page=0", "bad_page"),
        ("page=-1", "bad_page"), ("page=٣", "bad_page"), ("as=pdf", "bad_file_form"), ("q=" + "a" * 201, "long_search"),
        ("q=%00", "long_search"),
    ],
)  # fmt: skip
def test_what_can_not_be_asked_is_refused_with_its_place(address: str, code: str) -> None:
    with pytest.raises(BadInput) as refused:
        asked(address)
    assert refused.value.code == code
    assert refused.value.hint


def test_order_and_search_as_sql_are_literal() -> None:
    wish = asked("q=50%25_a&sort=gpus")
    assert wish.search_sql(["a.name", "a.host"]) == (
        "(a.name ILIKE %s OR a.host ILIKE %s)",
        ["%50\\%\\_a%", "%50\\%\\_a%"],
    )
    assert wish.order_sql({"gpus": "count(*)"}, "a.id") == "count(*) ASC NULLS LAST, a.id"
    assert wish.order_sql({}, "a.id") == "a.id"
    assert (asked("page=3").limit, asked("page=3").offset) == (2, 4)
    assert (asked("as=csv&page=3").limit, asked("as=csv&page=3").offset) == (None, 0)


def test_the_form_for_spreadsheets_runs_nothing() -> None:
    text = sent("csv").decode()
    assert text.startswith("\ufeffName,State,Bill,Since (Europe/Berlin),Idle for (hours),GPUs,Working (%),")
    assert text.splitlines()[0].endswith("Money by state: Working,Money by state: Held,Currency,Cost")
    first = "'=2+5,Held,billed,2025-06-02 00:30:00,1.5,8,41.25,1.50,2,USD,10.123456789"
    assert text.splitlines()[1] == first
    assert text.splitlines()[3] == '"\'-box, 2",Working,,,,4,,,,EUR,7'
    assert len(text.splitlines()) == 5, "all rows, whatever the page, and nothing after the last"


def test_the_form_for_programs_is_exact_and_plain() -> None:
    lines = sent("csv-raw").decode().splitlines()
    assert lines[0] == (
        "name,state,bill,since,idle_for_seconds,gpus,working_pct,money_by_working,money_by_held,currency,cost"
    )
    assert lines[1] == "=2+5,held,billed,2025-06-01T22:30:00Z,5400,8,41.25,1.50,2,USD,10.123456789"
    assert lines[4] == "stray,unknown,,,,,,,,,"


def cells(body: bytes, sheet: str = "xl/worksheets/sheet1.xml") -> dict[str, tuple[str | None, str]]:
    space = {"x": "http://schemas.openxmlformats.org/spreadsheetml/2006/main"}
    with zipfile.ZipFile(io.BytesIO(body)) as book:
        root = ET.fromstring(book.read(sheet))
    assert root.findall(".//x:f", space) == [], "no formula"
    assert root.findall(".//x:hyperlink", space) == []
    return {
        one.get("r", ""): (one.get("t"), "".join(part.text or "" for part in one.iter() if part is not one))
        for one in root.findall(".//x:c", space)
    }


def test_a_workbook_has_numbers_as_numbers_and_text_as_text() -> None:
    found = cells(sent("xlsx"))
    assert found["A2"] == ("inlineStr", "=2+5")
    assert found["F2"] == (None, "8")
    assert found["K2"] == (None, "10.123456789")
    assert found["J2"] == ("inlineStr", "USD")
    assert found["D2"][0] is None
    assert float(found["D2"][1]) == pytest.approx(45810 + 0.5 / 24, abs=1e-6)
    assert "K5" not in found, "unpriced is an empty cell, not zero"


def many(count: int) -> Iterator[dict[str, Any]]:
    for number in range(count):
        yield {"name": Link(f"box-{number}"), "state": "held", "gpus": number, "cost": Money(Decimal(number), "USD")}


@pytest.mark.parametrize("form", ["csv", "csv-raw", "xlsx"])
def test_memory_does_not_grow_with_the_rows(form: str) -> None:
    peaks = []
    for count in (500, 8000):
        wish = asked(f"as={form}")
        tracemalloc.start()
        for _piece in file_answer(SPEC, many(count), wish, "many"):
            pass
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 600_000
