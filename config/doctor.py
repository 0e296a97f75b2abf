"""`doctor`: does the tool see everything, and what is to be done where it doesn't? One row per thing and check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any

from alerts.queries import channel_checks
from common.periods import iso
from fleet.queries.inventory import read_accounts, unread_accounts
from fleet.queries.runs import latest_runs
from fleet.queries.source_checks import check_source
from fleet.queries.sources import all_sources
from people.queries import installation, is_replaying

LATE = timedelta(minutes=15)  # our own last complete pass (rule 11)


@dataclass(frozen=True)
class Check:
    """One row of `doctor`."""

    check: str
    subject: str
    ok: bool
    code: str
    message: str
    hint: str = ""

    def as_json(self) -> dict[str, Any]:
        """Give the row of doors.md."""
        return asdict(self)


def examine(*, now: datetime) -> list[Check]:
    """Look at sources, accounts, channels, the clock and our own jobs. Reads the outside, writes nothing."""
    return [*_sources(now), *_accounts(), *_rows("channel", channel_checks(now)), *_own(now)]


def _rows(kind: str, rows: Any) -> Iterator[Check]:
    for row in rows:
        yield Check(getattr(row, "check", kind), row.subject, row.ok, row.code, row.message, row.hint)


def _sources(now: datetime) -> Iterator[Check]:
    sources = all_sources()
    if not sources:
        yield Check(
            "source", "", False, "no_source", "No source is connected.",
            "Start with PROMETHEUS_URL=http://... make run, or name a source in fleet.yaml and apply it.",
        )  # fmt: skip
    for source in sources:
        yield from _rows("source", check_source(source, now=now))


def _accounts() -> Iterator[Check]:
    for _, name in read_accounts():
        yield Check("account", name, True, "ok", "Its instances are read.")
    for name, kind in unread_accounts():
        message = f"Accounts of kind {kind} are kept, but not read yet."
        hint = "List its machines under an account of kind static until then."
        yield Check("account", name, False, "not_supported_yet", message, hint)


def _own(now: datetime) -> Iterator[Check]:
    if is_replaying():
        world = installation().world_at
        message = f"The database follows replayed time{f', now at {iso(world)}' if world else ''}; beat's jobs sleep."
        yield Check("clock", "installation", True, "replay", message, "Run go_live to follow the real clock.")
        return
    yield Check("clock", "installation", True, "live", "The database follows the real clock.")
    for run in latest_runs():
        if run.error_code:
            message = f"{run.failures} failures in a row: {run.error_message}"
            hint = "See the worker's log; the job tries again by itself."
            yield Check("job", run.name, False, run.error_code, message, hint)
        elif run.name in {"collect", "judge"} and run.ok_at and now - run.ok_at > LATE:
            hint = "Is the worker running? make run starts it."
            yield Check("job", run.name, False, "late", f"Last complete pass {iso(run.ok_at)}.", hint)
        else:
            message = f"Last complete pass {iso(run.ok_at)}." if run.ok_at else "Running now."
            yield Check("job", run.name, True, "ok", message)
