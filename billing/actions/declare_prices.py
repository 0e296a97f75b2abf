"""Declare prices. The past never moves: a price that changes ends, and another one begins."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any

from billing.models import Price
from billing.queries.price_moves import PastChange, PastMove, past_moves
from billing.queries.prices import book, listed_price
from common.declared import Change, Spec, Verb, differing
from common.periods import BEGINNING, iso, parse_moment
from fleet.actions.remetered import mark_remetered

KEY = ("provider", "sku", "gpu_model", "gpu_count", "region", "purchase_option", "unit", "currency")
ENDED = {"ended": True}
"""What ``declared`` says of a price that another one has followed: past, and no leftover of the file."""

Numbered = tuple[int, Spec]
"""A declared price with its place in the file."""


@dataclass
class _Plan:
    """What was done at ``now``: ``touched`` rows stand for a declared price, ``since`` is where differences begin.

    ``past``: what is now said otherwise of the time before ``now``, with the row that says it.
    """

    now: datetime
    changes: list[Change] = field(default_factory=list)
    touched: list[Price] = field(default_factory=list)
    since: list[datetime] = field(default_factory=list)
    past: list[tuple[PastChange, Price]] = field(default_factory=list)

    def note_past(self, number: int, name: str, row: Price, until: datetime | None = None) -> None:
        """Note that ``row``, declared as ``number`` of its file, holds from before now (``until`` some time)."""
        end = min(until, self.now) if until else self.now
        if row.valid_from < end:
            self.past.append((PastChange(number, name, row.valid_from, end), row))


@dataclass(frozen=True)
class DeclaredPrices:
    """What was done, and what of it moves money of the time before now."""

    changes: list[Change]
    moves: list[PastMove]


def declare_prices(wanted: Sequence[Spec], *, now: datetime, prune: bool, currency: str) -> DeclaredPrices:
    """Bring declared prices to ``wanted``. ``currency`` stands where a price names none.

    A price with `valid_from` holds from there, also when it is changed; one without holds always when it is first
    declared, and a change of it from ``now``. A price that leaves the file ends ``now`` (with ``prune``).
    """
    asked = [{"currency": currency, **spec} for spec in wanted]
    rows: defaultdict[tuple[Any, ...], list[Price]] = defaultdict(list)
    for row in Price.objects.filter(is_suggested=False).exclude(declared=None).order_by("valid_from", "pk"):
        rows[_row_key(row)].append(row)
    plan, before = _Plan(now), book()
    for number, spec in enumerate(asked):
        _declare((number, spec), rows[_spec_key(spec)], asked, plan)
    for row in (row for own in rows.values() for row in own if row not in plan.touched and row.declared != ENDED):
        plan.changes.append(Change(Verb.REMOVED if prune else Verb.LEFT, "price", name_of(_form(row))))
        if prune:
            _end(row, now, plan)
    if plan.since:
        mark_remetered(since=min(plan.since))
    return DeclaredPrices(plan.changes, past_moves([(one, listed_price(row)) for one, row in plan.past], before))


def name_of(spec: Spec) -> str:
    """Say which price it is."""
    parts = [str(spec[key]) for key in KEY if spec.get(key)]
    return " ".join([*parts, f"from {spec['valid_from'][:10]}"] if spec.get("valid_from") else parts)


def _declare(numbered: Numbered, rows: list[Price], asked: Sequence[Spec], plan: _Plan) -> None:
    """Settle one declared price against the rows of its key."""
    _, spec = numbered
    free = [row for row in rows if row not in plan.touched]
    told = parse_moment(spec["valid_from"]) if spec.get("valid_from") else None
    row = next((one for one in free if _is_same_start(one, told)), None)
    if row is not None:
        if told or not _amount_differs(row, spec):
            _change_in_place(row, numbered, plan)
        else:
            _follow(row, numbered, plan.now, plan)
        return
    starts = {
        parse_moment(other["valid_from"])
        for other in asked
        if other.get("valid_from") and _spec_key(other) == _spec_key(spec)
    }
    open_rows = [one for one in free if one.declared != ENDED and one.valid_from not in starts]
    start = told or BEGINNING
    before = next((one for one in reversed(open_rows) if one.valid_from < start), None)
    if before is not None:
        _follow(before, numbered, start, plan)
        return
    _write(numbered, start, plan)
    plan.changes.append(Change(Verb.CREATED, "price", name_of(spec)))


def _is_same_start(row: Price, told: datetime | None) -> bool:
    """Whether a row is the one that the declared price was: the same start, or the last of one without a start."""
    if told is not None:
        return row.valid_from == told
    return row.declared != ENDED and not _form(row).get("valid_from")


def _amount_differs(row: Price, spec: Spec) -> bool:
    return row.price != _amount(spec)


def _change_in_place(row: Price, numbered: Numbered, plan: _Plan) -> None:
    """Write what the file says of a price that keeps its start."""
    number, spec = numbered
    fields = differing({} if row.declared == ENDED else _form(row), spec) or _drift(row, spec)
    if fields:
        plan.since.append(row.valid_from)
        old = (row.price, row.valid_to)
        _fill(row, spec, row.valid_from)
        row.save()
        if old != (row.price, row.valid_to):
            ends = [end for end in (old[1], row.valid_to) if end]
            plan.note_past(number, name_of(spec), row, max(ends) if len(ends) == len(old) else None)
    plan.touched.append(row)
    plan.changes.append(Change(Verb.CHANGED if fields else Verb.UNCHANGED, "price", name_of(spec), fields))


def _follow(row: Price, numbered: Numbered, start: datetime, plan: _Plan) -> None:
    """Let the declared price follow ``row`` from ``start`` on."""
    _, spec = numbered
    fields = differing(_form(row), spec)
    plan.touched.append(row)
    _end(row, start, plan)
    _write(numbered, start, plan)
    plan.changes.append(Change(Verb.CHANGED, "price", name_of(spec), fields))


def _end(row: Price, at: datetime, plan: _Plan) -> None:
    """End a price at a moment; one that had not begun is deleted."""
    plan.since.append(max(row.valid_from, at))
    if row.valid_from >= at:
        row.delete()
        return
    row.valid_to = min(row.valid_to, at) if row.valid_to else at
    row.declared = ENDED
    row.save()


def _write(numbered: Numbered, start: datetime, plan: _Plan) -> None:
    number, spec = numbered
    plan.since.append(start)
    row = Price()
    _fill(row, spec, start)
    row.save()
    plan.note_past(number, name_of(spec), row, row.valid_to)
    plan.touched.append(row)


def _fill(row: Price, spec: Spec, start: datetime) -> None:
    """Set a row to what is declared, from ``start`` on."""
    for key in KEY:
        setattr(row, key, spec.get(key) if key == "gpu_count" else spec.get(key) or "")
    row.price = _amount(spec)
    row.valid_from = start
    row.valid_to = parse_moment(spec["valid_to"]) if spec.get("valid_to") else None
    row.source = spec["source"]
    row.source_date = spec.get("source_date")
    row.declared = dict(spec)


def _drift(row: Price, spec: Spec) -> tuple[str, ...]:
    """Name what was changed in the page since."""
    fields = ("price",) if _amount_differs(row, spec) else ()
    ends = iso(row.valid_to) if row.valid_to else None
    return fields if ends == spec.get("valid_to") else (*fields, "valid_to")


def _form(row: Price) -> Mapping[str, Any]:
    """Give how a row was declared."""
    return row.declared or {}


def _amount(spec: Mapping[str, Any]) -> Decimal:
    """Give the price, under whichever of its two keys it stands."""
    return Decimal(spec["price_per_hour"] if spec.get("price_per_hour") is not None else spec["price"])


def _row_key(row: Price) -> tuple[Any, ...]:
    return tuple(getattr(row, key) or None for key in KEY)


def _spec_key(spec: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(spec.get(key) or None for key in KEY)
