"""Verdict rows: intervals, written when something changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection, transaction

from common.database import copy_rows

Key = tuple[str, int]  # subject kind, row id
COLUMNS = (
    "subject_kind", "subject_id", "start", "state", "reason", "since", "confidence", "policy", "policy_version",
    "evidence",
)  # fmt: skip


@dataclass(frozen=True)
class Said:
    """What is said of a subject now; a difference begins a new row. ``since``: while idle, epoch seconds."""

    state: str
    reason: str
    since: float | None
    policy: str
    policy_version: int | None


@dataclass(frozen=True)
class More:
    """What is written beside it when a row begins."""

    confidence: str
    evidence: Mapping[str, Any]


@transaction.atomic(savepoint=False)
def write_verdicts(said: Mapping[Key, Said], more: Any, *, at: datetime) -> int:
    """Close the rows of what changed or is there no more, and begin new ones at ``at``; give how many began.

    ``more`` (key) -> More is asked only for rows that begin.
    """
    current = _current()
    same = {key for key, (_, _, old) in current.items() if said.get(key) == old}
    over = [(pk, start) for key, (pk, start, _) in current.items() if key not in same]
    _close(over, at)
    new = [key for key in said if key not in same]
    if new:
        copy_rows("fleet_verdict", COLUMNS, (_row(key, said[key], more(key), at) for key in new))
    return len(new)


def _current() -> dict[Key, tuple[int, float, Said]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, subject_kind, subject_id, extract(epoch FROM start)::float8, state, reason,"
            " extract(epoch FROM since)::float8, policy,"
            ' policy_version FROM fleet_verdict WHERE "end" IS NULL'
        )
        return {(row[1], row[2]): (row[0], row[3], Said(*row[4:])) for row in cursor.fetchall()}


def _close(over: Iterable[tuple[int, float]], at: datetime) -> None:
    """End rows at ``at``; one that began there said nothing and goes."""
    ended = [pk for pk, start in over if start < at.timestamp()]
    empty = [pk for pk, start in over if start >= at.timestamp()]
    with connection.cursor() as cursor:
        if ended:
            cursor.execute('UPDATE fleet_verdict SET "end" = %s WHERE id = ANY(%s)', [at, ended])
        if empty:
            cursor.execute("DELETE FROM fleet_verdict WHERE id = ANY(%s)", [empty])


def _row(key: Key, said: Said, more: More, at: datetime) -> tuple[Any, ...]:
    since = None if said.since is None else datetime.fromtimestamp(said.since, at.tzinfo)
    return (
        key[0], key[1], at, said.state, said.reason, since, more.confidence, said.policy, said.policy_version,
        orjson.dumps(more.evidence).decode(),
    )  # fmt: skip
