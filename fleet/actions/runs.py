"""Write how a periodic job went: health is a row, never a question to the broker."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from common.errors import FleetledgerError

_WRITE = """
INSERT INTO fleet_jobrun AS run
    (name, shard, now, started_at, seconds, ok_at, result, error_code, error_message, failures)
SELECT name, '', now, started_at, seconds, ok_at, result, error_code, error_message, failures
FROM jsonb_to_recordset(%s::jsonb) AS given(name text, now timestamptz, started_at timestamptz, seconds float8,
    ok_at timestamptz, result jsonb, error_code text, error_message text, failures int)
ON CONFLICT (name, shard) DO UPDATE SET
    now = excluded.now, started_at = excluded.started_at, seconds = excluded.seconds,
    ok_at = coalesce(excluded.ok_at, run.ok_at), result = excluded.result,
    error_code = excluded.error_code, error_message = excluded.error_message,
    failures = CASE WHEN excluded.failures = 0 THEN 0 ELSE run.failures + 1 END
"""


@dataclass(frozen=True)
class Run:
    """A run of a job: ``clock`` is the real time it began, ``now`` the time it worked for; ``count`` what it did."""

    name: str
    now: datetime
    clock: datetime
    seconds: float
    count: int = 0


def finish_runs(done: Sequence[Run]) -> None:
    """Note runs of different jobs that went well."""
    if done:
        _write([_row(run, ok_at=run.now, result={"count": run.count}, error=None) for run in done])


def fail_run(run: Run, *, error: Exception) -> None:
    """Note that a run failed. What we did not foresee has the code `unexpected` and its type, never its values."""
    _write([_row(run, ok_at=None, result={}, error=error)])


def _row(run: Run, *, ok_at: datetime | None, result: dict[str, Any], error: Exception | None) -> dict[str, Any]:
    known = isinstance(error, FleetledgerError)
    return {
        "name": run.name,
        "now": run.now.isoformat(),
        "started_at": run.clock.isoformat(),
        "seconds": run.seconds,
        "ok_at": ok_at.isoformat() if ok_at else None,
        "result": result,
        "error_code": "" if error is None else error.code if isinstance(error, FleetledgerError) else "unexpected",
        "error_message": "" if error is None else str(error) if known else type(error).__name__,
        "failures": 0 if error is None else 1,
    }


def _write(rows: Sequence[dict[str, Any]]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, [json.dumps(rows)])
