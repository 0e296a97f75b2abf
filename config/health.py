"""Is this process fit to answer, and do the jobs pass regularly? Facts from the database, never from the broker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor

from common.clock import BEHIND
from config.schedule import JOBS
from fleet.queries.health import JobHealth, jobs_health
from people.queries import is_replaying

FOLLOWING = {"collect": ("judge", "meter")}  # they run with the job they follow
LEAST = timedelta(minutes=15)


@dataclass(frozen=True)
class Check:
    """One thing that has to hold. ``message`` says what is wrong, "" when nothing is; it holds no address or secret."""

    name: str
    message: str

    def as_json(self) -> dict[str, object]:
        """Give the check as /readyz shows it."""
        return {"check": self.name, "ok": not self.message, "message": self.message}


def database_answers() -> bool:
    """Say whether the database can be asked."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            return bool(cursor.fetchone() == (1,))
    except DatabaseError:
        return False


def readiness(clock: datetime) -> list[Check]:
    """Check database, migrations and the age of the jobs' last good runs; later checks need the earlier ones."""
    checks = [Check("database", "" if database_answers() else "the database does not answer")]
    if checks[-1].message:
        return checks
    checks.append(Check("migrations", "" if _migrations_are_applied() else "the database is older than this code"))
    if not checks[-1].message:
        checks += job_checks(jobs_health(), clock=clock, is_replaying=is_replaying())
    return checks


def job_checks(runs: Iterable[JobHealth], *, clock: datetime, is_replaying: bool) -> list[Check]:
    """Check that each periodic job went well lately: within three of its intervals. Under replay none is due."""
    if is_replaying:
        return [Check("jobs", "")]
    newest: dict[str, datetime] = {}
    for run in runs:
        if run.ok_at and run.ok_at > newest.get(run.name, datetime.min.replace(tzinfo=clock.tzinfo)):
            newest[run.name] = run.ok_at
    checks = []
    for job in JOBS:
        longest = max(LEAST, 3 * job.every) + BEHIND
        names = (job.name, *FOLLOWING.get(job.name, ()))
        checks += [Check(name, _age_problem(newest.get(name), clock, longest)) for name in names]
    return checks


def _age_problem(ok_at: datetime | None, clock: datetime, longest: timedelta) -> str:
    if ok_at is None:
        return "has not gone well yet"
    age = clock - ok_at
    return f"last went well {int(age.total_seconds() // 60)} min ago" if age > longest else ""


def _migrations_are_applied() -> bool:
    executor = MigrationExecutor(connection)
    return not executor.migration_plan(executor.loader.graph.leaf_nodes())
