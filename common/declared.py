"""Things that a file declares and the rows that keep them: what an apply did to each, and one way to do it for all.

A row that a file made carries ``declared`` (the form it was declared in); rows made in the page or by telemetry have
None there, and no apply removes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, TypeVar

Spec = Mapping[str, Any]
"""A declared thing as JSON values: decimals and times as text, durations like ``1h30m``."""


class Verb(StrEnum):
    """What an apply did to a thing."""

    CREATED = "created"
    CHANGED = "changed"
    REMOVED = "removed"
    UNCHANGED = "unchanged"
    LEFT = "left"  # declared once, in the file no more, kept for want of --prune


@dataclass(frozen=True)
class Change:
    """What happened to one thing; ``fields`` names what differs when it was changed."""

    verb: Verb
    kind: str
    name: str
    fields: tuple[str, ...] = ()


class DeclaredRow(Protocol):
    """A row that remembers how it was declared."""

    declared: Any

    def save(self) -> None:
        """Write it."""


RowT = TypeVar("RowT", bound=DeclaredRow)


def differing(old: Spec, new: Spec) -> tuple[str, ...]:
    """Name the keys whose values differ; a missing key equals null."""
    return tuple(key for key in sorted({*old, *new}) if old.get(key) != new.get(key))


def declare_rows(
    kind: str,
    rows: Mapping[str, RowT],
    wanted: Iterable[tuple[str, Spec]],
    *,
    make: Callable[[str], RowT],
    fill: Callable[[RowT, Spec], None],
    current: Callable[[RowT], Spec],
) -> list[Change]:
    """Bring ``rows`` (by name) to what is ``wanted`` and say what was done to each; nothing is removed.

    ``make`` gives a new row that is not saved; ``fill`` sets a row to its form; ``current`` reads a row's form as it is
    now, so that an edit in the page is brought back.
    """
    things = list(wanted)
    found = by_spelling(rows, [name for name, _ in things])
    changes = []
    for name, spec in things:
        row = found.get(name)
        fields: tuple[str, ...] = ()
        if row is None:
            row, verb = make(name), Verb.CREATED
        else:
            fields = differing(current(row), spec) or (() if row.declared is not None else ("declared",))
            verb = Verb.CHANGED if fields else Verb.UNCHANGED
        if verb is not Verb.UNCHANGED:
            fill(row, spec)
            row.declared = dict(spec)
            row.save()
        changes.append(Change(verb, kind, name, fields))
    return changes


def by_spelling(rows: Mapping[str, RowT], names: Collection[str]) -> dict[str, RowT]:
    """Find the row of each name: of that name, else of one that differs in case only and is not asked for itself."""
    asked = set(names)
    folded = {name.casefold(): row for name, row in rows.items() if name not in asked}
    found = {name: rows.get(name) or folded.get(name.casefold()) for name in names}
    return {name: row for name, row in found.items() if row is not None}


def settle_leftovers(
    kind: str, rows: Mapping[str, RowT], wanted: Iterable[str], *, prune: bool, remove: Callable[[RowT], object]
) -> list[Change]:
    """Remove (with ``prune``) or report the rows that a file declared once and no longer does."""
    keep = {id(row) for row in by_spelling(rows, list(wanted)).values()}
    left = [(name, row) for name, row in rows.items() if row.declared is not None and id(row) not in keep]
    if prune:
        for _, row in left:
            remove(row)
    return [Change(Verb.REMOVED if prune else Verb.LEFT, kind, name) for name, _ in left]
