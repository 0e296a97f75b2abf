"""Write how a periodic job went: health is a row, never a question to the broker."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from django.db import connection

from common.errors import FleetledgerError

_WRITE = """
INSERT INTO fleet_jobrun AS run
    (name, shard, now, started_at, seconds, ok_at, result, error_code, error_message, failures)
VALUES (%(name)s, '', %(now)s, %(clock)s, %(seconds)s, %(ok_at)s, %(result)s, %(code)s, %(message)s, %(failures)s)
ON CONFLICT (name, shard) DO UPDATE SET
    now = excluded.now, started_at = excluded.started_at, seconds = excluded.seconds,
    ok_at = coalesce(excluded.ok_at, run.ok_at), result = excluded.result,
    error_code = excluded.error_code, error_message = excluded.error_message,
    failures = CASE WHEN excluded.failures = 0 THEN 0 ELSE run.failures + 1 END
"""


def finish_run(*, name: str, now: datetime, clock: datetime, seconds: float, result: dict[str, Any]) -> None:
    """Note that a run went well; ``clock`` is the real time it began, ``now`` the time it worked for."""
    _write(name, now, clock, seconds, ok_at=now, result=result, error=None)


def fail_run(*, name: str, now: datetime, clock: datetime, seconds: float, error: Exception) -> None:
    """Note that a run failed. What we did not foresee has the code `unexpected` and its type, never its values."""
    _write(name, now, clock, seconds, ok_at=None, result={}, error=error)


def _write(
    name: str,
    now: datetime,
    clock: datetime,
    seconds: float,
    *,
    ok_at: datetime | None,
    result: dict[str, Any],
    error: Exception | None,
) -> None:
    known = isinstance(error, FleetledgerError)
    row: dict[str, Any] = {
        "name": name,
        "now": now,
        "clock": clock,
        "seconds": seconds,
        "ok_at": ok_at,
        "result": json.dumps(result),
        "code": "" if error is None else error.code if isinstance(error, FleetledgerError) else "unexpected",
        "message": "" if error is None else str(error) if known else type(error).__name__,
        "failures": 0 if error is None else 1,
    }
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, row)
