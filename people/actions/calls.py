"""Count calls of the API: so many a minute for each token, and for each person in a session."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import connection

CALLS_PER_MINUTE = 600


def count_call(caller: str, *, now: datetime) -> int:
    """Count a call and give the number of ``caller``'s calls in this minute, over all processes."""
    minute = now.replace(second=0, microsecond=0)
    with connection.cursor() as cursor:
        cursor.execute(
            """INSERT INTO people_apicalls AS old (caller, minute, calls) VALUES (%s, %s, 1)
               ON CONFLICT (caller) DO UPDATE SET minute = excluded.minute,
               calls = CASE WHEN old.minute = excluded.minute THEN old.calls + 1 ELSE 1 END
               RETURNING calls""",
            [caller, minute],
        )
        return int(cursor.fetchone()[0])


def wait_of(now: datetime) -> timedelta:
    """Give how long it is until the next minute begins."""
    return now.replace(second=0, microsecond=0) + timedelta(minutes=1) - now
