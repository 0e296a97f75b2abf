"""Two passes at the same time: the second one begins while the first has written and not committed."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import DatabaseError, connection, transaction

from tests.support.processes import wait_until


def two_at_once(work: Callable[[], object]) -> None:
    """Run ``work`` twice, the second time beside the first; raise what the second raised. Needs real transactions."""
    failed: list[DatabaseError] = []

    def second() -> None:
        try:
            work()
        except DatabaseError as error:
            failed.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=second)
    with transaction.atomic():
        work()
        thread.start()
        wait_until(_somebody_waits, seconds=20, what="the second pass to wait for the first")
    thread.join(20)
    if failed:
        raise failed[0]


def _somebody_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            " WHERE NOT l.granted AND a.datname = current_database())"
        )
        return bool(cursor.fetchone()[0])
