"""Tables of pages and files: what columns there are, and what the address asks of them.

A view names its table once and uses it three times, for the page, its refresh and its files::

    JOBS = TableSpec("jobs", (
        Column("name", _("Job"), Kind.LINK),
        Column("gpu_hours", _("GPU-hours"), Kind.HOURS, total=True),
        Column("cost", _("Cost"), Kind.MONEY, total=True, desk=True),
    ), default_sort="-cost")

    asked = read_listing(request.GET, JOBS)            # BadInput becomes a page 400 in `signed_in`
    rows = job_rows(...)                               # mappings or dataclasses by the keys of the columns
    if asked.as_file:
        return file_answer(JOBS, arranged(rows, asked), asked, "jobs-2025-06", zone=visitor.house.zone)
    return render(request, "fleet/jobs.html", {"table": listed(rows, asked), ...})

    {% include "kit/table.html" with table=table title=_("Jobs") %}

Small tables are arranged here in Python (`common/listed.py`). A large one hands ``asked`` to its query, which uses
`order_sql`, `search_sql`, ``limit`` and ``offset``, and ends with `paged(rows, asked, count=, totals=)`.
Parameters of the address: ``q``, ``sort`` (``cost`` or ``-cost``), ``page``, ``as`` (csv, csv-raw, xlsx), each behind
the table's ``prefix`` where a page has several tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.http import QueryDict

from common.cells import Kind
from common.errors import BadInput

FORMS = ("csv", "csv-raw", "xlsx")
LONGEST_SEARCH = 200
_LARGEST_PAGE = 10**7


@dataclass(frozen=True)
class Column:
    """One column. ``label`` is what pages and spreadsheets call it; ``key`` its name in rows and machine files.

    ``desk``: left out on phones. ``total``: summed over all filtered rows. ``currency``: the row's key of the currency
    of bare amounts. ``note``: the row's key of a small second line. ``template``: draws the cell (gets `row`, `value`).
    ``in_page`` / ``in_file``: where it stands. ``parts``: what of a MIX goes into files, one column each.
    ``places``: decimals of NUMBER and PERCENT. ``help``: what it means, shown on its heading.
    """

    key: str
    label: Any
    kind: Kind | str = Kind.TEXT
    sortable: bool = True
    desk: bool = False
    total: bool = False
    currency: str = "currency"
    note: str = ""
    template: str = ""
    in_page: bool = True
    in_file: bool = True
    parts: tuple[str, ...] = ()
    places: int | None = None
    help: Any = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", Kind(self.kind))


@dataclass(frozen=True)
class TableSpec:
    """A table. ``default_sort``: a key, with ``-`` before it for the largest first; "" keeps the order of the rows.

    ``row_id``: the row's key of a stable name, so that a refresh keeps focus. ``flag``: the row's key of a CSS class.
    """

    name: str
    columns: tuple[Column, ...]
    default_sort: str = ""
    page_size: int = 50
    prefix: str = ""
    row_id: str = ""
    flag: str = ""

    def column(self, key: str) -> Column:
        """Give a column by its key."""
        return next(column for column in self.columns if column.key == key)

    @property
    def for_page(self) -> tuple[Column, ...]:
        """Columns of the page."""
        return tuple(column for column in self.columns if column.in_page)


@dataclass(frozen=True)
class Asked:
    """What the address asks of a table. ``sort`` is a column's key or ""; ``page`` counts from 1.

    ``as_file``: csv, csv-raw or xlsx, "" for the page. ``others``: the address without what is the table's own.
    """

    spec: TableSpec
    sort: str = ""
    descending: bool = False
    q: str = ""
    page: int = 1
    as_file: str = ""
    others: tuple[tuple[str, str], ...] = field(default=())

    @property
    def limit(self) -> int | None:
        """How many rows to read; None for a file, which holds all."""
        return None if self.as_file else self.spec.page_size

    @property
    def offset(self) -> int:
        """How many rows to pass over."""
        return 0 if self.as_file else (self.page - 1) * self.spec.page_size

    @property
    def words(self) -> tuple[str, ...]:
        """The words that a row must have, all of them, in any case."""
        return tuple(self.q.casefold().split())

    def order_sql(self, columns: Mapping[str, str], tie: str) -> str:
        """Give what stands behind ORDER BY. ``columns``: key -> SQL; ``tie``: SQL that no two rows share."""
        if self.sort not in columns:
            return tie
        return f"{columns[self.sort]} {'DESC' if self.descending else 'ASC'} NULLS LAST, {tie}"

    def search_sql(self, columns: Sequence[str]) -> tuple[str, list[str]]:
        """Give the condition that every word stands in one of ``columns`` (SQL), with its parameters."""
        any_of = " OR ".join(f"{column} ILIKE %s" for column in columns)
        if not self.words:
            return "TRUE", []
        values = [f"%{like_literal(word)}%" for word in self.words for _ in columns]
        return " AND ".join(f"({any_of})" for _ in self.words), values

    def query(self, **changes: str | int) -> str:
        """Give the address (from ``?`` on) with some of q, sort, page, as changed; "" drops one."""
        now: dict[str, str | int] = {"q": self.q, "sort": self._sort_text, "page": self.page, "as": ""}
        if set(changes) - {"page"}:
            now["page"] = 1
        wanted = now | changes
        if wanted["sort"] == self.spec.default_sort:
            wanted["sort"] = ""
        if wanted["page"] == 1:
            wanted["page"] = ""
        params = QueryDict(mutable=True)
        for name, value in self.others:
            params.appendlist(name, value)
        for name in ("q", "sort", "page", "as"):
            if wanted[name] != "":
                params[self.spec.prefix + name] = str(wanted[name])
        return f"?{params.urlencode()}"

    @property
    def _sort_text(self) -> str:
        return f"-{self.sort}" if self.descending else self.sort


def like_literal(word: str) -> str:
    """Escape what LIKE would read as a pattern."""
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def read_listing(params: Mapping[str, str], spec: TableSpec) -> Asked:
    """Read what an address asks of a table. Raises BadInput: unknown_column, bad_page, bad_file_form, long_search."""
    own = {spec.prefix + name for name in ("q", "sort", "page", "as")}
    others = [(name, value) for name, value in _pairs(params) if name not in own]
    wanted = {name: params.get(spec.prefix + name, "").strip() for name in ("q", "sort", "page", "as")}
    if len(wanted["q"]) > LONGEST_SEARCH or "\x00" in wanted["q"]:
        raise BadInput(
            "long_search", "This text is too long to search for.", hint=f"At most {LONGEST_SEARCH} characters."
        )
    sort = wanted["sort"] or spec.default_sort
    key = sort.removeprefix("-")
    sortable = [column.key for column in spec.columns if column.sortable]
    if key and key not in sortable and sort != spec.default_sort:
        hint = f"Sort by one of: {', '.join(sortable)}."
        raise BadInput("unknown_column", f"sort: there is no column {key!r} to sort by.", hint=hint)
    if wanted["as"] and wanted["as"] not in FORMS:
        hint = f"There are: {', '.join(FORMS)}."
        raise BadInput("bad_file_form", f"as: there is no file form {wanted['as']!r}.", hint=hint)
    return Asked(
        spec, key, sort.startswith("-"), wanted["q"], _page(wanted["page"]), wanted["as"], tuple(others)
    )  # fmt: skip


def _pairs(params: Mapping[str, str]) -> list[tuple[str, str]]:
    if isinstance(params, QueryDict):
        return [(name, str(value)) for name, values in params.lists() for value in values if value]
    return [(name, value) for name, value in params.items() if value]


def _page(text: str) -> int:
    if not text:
        return 1
    if not text.isascii() or not text.isdigit() or not 1 <= int(text[:9]) <= _LARGEST_PAGE:
        raise BadInput("bad_page", f"page: {text[:40]!r} is no page.", hint="Pages count from 1.")
    return int(text[:9])
