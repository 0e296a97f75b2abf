"""Sign in with a password. Guessing is slowed down per e-mail address and per network address.

After five failures for one e-mail address (thirty for one network address) every further one doubles the wait, from
five seconds up to five minutes; an hour without a failure forgets them. Who has to wait is told so, and no password is
looked at.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import connection, transaction

from people.actions.audit import record
from people.models import SignInFailure, User

FREE_TRIES = {"email": 5, "address": 30}
FIRST_WAIT = timedelta(seconds=5)
LONGEST_WAIT = timedelta(minutes=5)
FORGET_AFTER = timedelta(hours=1)


@dataclass(frozen=True)
class Attempt:
    """Who tries, from where."""

    email: str
    address: str

    def keys(self) -> dict[str, str]:
        """Give kind -> stored key."""
        values = {"email": self.email.strip().lower(), "address": self.address}
        return {kind: f"{kind}:{hashlib.sha256(value.encode()).hexdigest()}" for kind, value in values.items()}


def wait_after(failures: int, *, free: int) -> timedelta:
    """Give how long the next try has to wait after so many failures in a row."""
    if failures < free:
        return timedelta(0)
    doublings: int = min(failures - free, 10)
    return min(LONGEST_WAIT, FIRST_WAIT * (1 << doublings))


def remaining_wait(attempt: Attempt, *, now: datetime) -> timedelta:
    """Give how long this attempt still has to wait; zero: go on."""
    kinds = {key: kind for kind, key in attempt.keys().items()}
    rows = SignInFailure.objects.filter(key__in=kinds, last_at__gt=now - FORGET_AFTER)
    waits = (row.last_at + wait_after(row.failures, free=FREE_TRIES[kinds[row.key]]) - now for row in rows)
    return max(waits, default=timedelta(0))


def record_failure(attempt: Attempt, *, now: datetime) -> None:
    """Count a failure for both keys; two at once are both counted."""
    with connection.cursor() as cursor:
        for key in sorted(attempt.keys().values()):
            cursor.execute(
                """INSERT INTO people_signinfailure AS old (key, failures, last_at) VALUES (%s, 1, %s)
                   ON CONFLICT (key) DO UPDATE SET last_at = excluded.last_at,
                   failures = CASE WHEN old.last_at < %s THEN 1 ELSE old.failures + 1 END""",
                [key, now, now - FORGET_AFTER],
            )


@transaction.atomic
def record_success(user: User, attempt: Attempt, *, now: datetime) -> None:
    """Forget the failures of this e-mail address (not of the network address) and write the audit trail."""
    SignInFailure.objects.filter(key=attempt.keys()["email"]).delete()
    record(now=now, by=user.email, action="sign_in", subject_kind="user", subject=user.email)
