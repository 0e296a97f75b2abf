"""When instances existed and ran: from their account's states, or, for hosts no account knows, from their samples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from common.periods import BEGINNING

RUNNING = frozenset({"running", "stopping"})  # billed as running until the provider says stopped
ENDED = frozenset({"terminated", "gone"})


@dataclass(frozen=True)
class Presence:
    """A run of one provider state in which the instance existed: half-open."""

    start: datetime
    end: datetime
    state: str

    @property
    def is_running(self) -> bool:
        """Whether the instance runs, by the provider's word."""
        return self.state in RUNNING


@dataclass(frozen=True)
class _Seen:
    """What telemetry and the inventory say of an instance: all may be unknown."""

    has_account: bool
    launched_at: datetime | None
    first_seen_at: datetime | None
    first_placed_at: datetime | None
    last_placed_at: datetime | None


def presence(instance_ids: Collection[int] | None, *, until: datetime) -> dict[int, list[Presence]]:
    """Give the runs of each instance up to ``until``, in order of time; None asks for all instances.

    `terminated` and `gone` are no presence. A run "from the beginning of time" starts with the first sample, else
    with the first time that the account listed it. A host that no account knows runs from its first to its last
    sample.
    """
    states = _states(instance_ids)
    runs: dict[int, list[Presence]] = {}
    for instance, seen in _seen(instance_ids).items():
        found = _from_states(states.get(instance, ()), seen, until) if seen.has_account else _from_samples(seen, until)
        if found:
            runs[instance] = found
    return runs


def _from_samples(seen: _Seen, until: datetime) -> list[Presence]:
    first, last = seen.first_placed_at, seen.last_placed_at
    if first is None or last is None or min(last, until) <= first:
        return []
    return [Presence(first, min(last, until), "running")]


def _from_states(
    states: Sequence[tuple[datetime, datetime | None, str]], seen: _Seen, until: datetime
) -> list[Presence]:
    runs: list[Presence] = []
    unknown_start = seen.first_placed_at or seen.first_seen_at or until
    for index, (start, end, state) in enumerate(states):
        starts_at = unknown_start if start <= BEGINNING else start
        if index == 0 and seen.launched_at is None and seen.first_placed_at and state in RUNNING:
            starts_at = min(starts_at, seen.first_placed_at)  # we saw it before its account told of it
        following = states[index + 1][0] if index + 1 < len(states) else until
        ends_at = min(end or until, following, until)  # a newer run ends the one before, whatever that says
        if state not in ENDED and starts_at < ends_at:
            runs.append(Presence(starts_at, ends_at, state))
    return runs


def _states(instance_ids: Collection[int] | None) -> Mapping[int, list[tuple[datetime, datetime | None, str]]]:
    found: defaultdict[int, list[tuple[datetime, datetime | None, str]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(
            'SELECT instance_id, start, "end", state FROM fleet_instancestate'
            " WHERE %(all)s OR instance_id = ANY(%(ids)s) ORDER BY instance_id, start",
            {"all": instance_ids is None, "ids": list(instance_ids or ())},
        )
        for instance, start, end, state in cursor.fetchall():
            found[instance].append((start, end, state))
    return found


def _seen(instance_ids: Collection[int] | None) -> dict[int, _Seen]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.id, i.account_id IS NOT NULL, i.launched_at, i.first_seen_at, p.first, p.last"
            " FROM fleet_instance i"
            ' LEFT JOIN (SELECT p.instance_id, min(p.start) AS first, max(coalesce(p."end", g.last_seen_at)) AS last'
            " FROM fleet_gpuplacement p JOIN fleet_gpu g ON g.id = p.gpu_id"
            " WHERE %(all)s OR p.instance_id = ANY(%(ids)s) GROUP BY p.instance_id) p ON p.instance_id = i.id"
            " WHERE %(all)s OR i.id = ANY(%(ids)s)",
            {"all": instance_ids is None, "ids": list(instance_ids or ())},
        )
        return {row[0]: _Seen(*row[1:]) for row in cursor.fetchall()}
