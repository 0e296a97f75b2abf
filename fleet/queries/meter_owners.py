"""Owners as metering asks for them: often, by number, in milliseconds."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection
from datetime import datetime, timedelta

from common.periods import EPOCH, Period
from fleet.queries.ownership import Resolver, resolver_for


class Owners:
    """Answers for a window; each (instance, job) is resolved once between two changes of rules or attributes."""

    def __init__(self, resolver: Resolver, since: datetime, until: datetime) -> None:
        self._resolver, self._since, self._until = resolver, since, until
        self._changes: dict[int, list[int]] = {}
        self._found: dict[tuple[int, int | None, int], tuple[int | None, str]] = {}

    def changes(self, instance: int) -> list[int]:
        """Give the moments (epoch ms) in the window at which the instance's owners may change."""
        changes = self._changes.get(instance)
        if changes is None:
            moments = self._resolver.changes(instance, self._since, self._until)
            changes = self._changes[instance] = [(at - EPOCH) // timedelta(milliseconds=1) for at in moments]
        return changes

    def owner_of(self, instance: int, job: int | None, at_ms: int) -> tuple[int | None, str]:
        """Give team (None: Unassigned) and owner ('': nobody) at a time in the window."""
        changes = self.changes(instance)
        key = (instance, job, bisect_right(changes, at_ms) if changes else 0)
        found = self._found.get(key)
        if found is None:
            owned = self._resolver.owned(instance, job, EPOCH + timedelta(milliseconds=at_ms))
            found = self._found[key] = (owned.team_id, owned.owner)
        return found


def load_owners(
    instance_ids: Collection[int], *, since: datetime, until: datetime, job_ids: Collection[int] = ()
) -> Owners:
    """Give the owners of these instances and jobs in [since, until)."""
    resolver = resolver_for(Period(since, until), instance_ids)
    resolver.load_jobs(job_ids)
    return Owners(resolver, since, until)
