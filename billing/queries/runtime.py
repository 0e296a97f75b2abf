"""The run-time ledger: every instance that existed in a period, when it ran, and what that cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import connection, transaction

from billing.domain.spend import ZERO, hours
from common.database import join_in_bulk
from common.money import plain
from common.pages import Page, Slice
from common.periods import Period, iso
from fleet.queries.gpu_hours import metered_until
from fleet.queries.inventory import instance_names
from fleet.queries.presence import Presence, presence
from people.queries import organization
from people.roles import TeamChoice

MILLISECOND = timedelta(milliseconds=1)
COSTS = """
SELECT instance_id, currency, sum(amount) FROM (
    SELECT x.instance_id, x.currency, x.working + x.low + x.held + x.empty + x.unknown + x.stopped AS amount, h.team_id,
           x.hour, h.part_start_minute
      FROM (SELECT * FROM billing_gpuhourcost WHERE hour > %(start)s - interval '1 hour' AND hour < %(end)s) x
      JOIN (SELECT * FROM fleet_gpuhour WHERE hour > %(start)s - interval '1 hour' AND hour < %(end)s) h
     USING (hour, instance_id, gpu_ref, share)
    UNION ALL
    SELECT instance_id, currency, amount, team_id, hour, part_start_minute FROM billing_instancehourcost
) x
 WHERE hour > %(start)s - interval '1 hour' AND hour < %(end)s
   AND hour + part_start_minute * interval '1 minute' >= %(start)s
   AND hour + part_start_minute * interval '1 minute' < %(end)s
   AND (%(all_teams)s OR team_id = ANY(%(teams)s) OR team_id IS NULL) AND (%(unassigned)s OR team_id IS NOT NULL)
 GROUP BY 1, 2
"""
COSTS_OF_SOME = COSTS.replace("hour < %(end)s", "hour < %(end)s AND instance_id = ANY(%(instances)s)")


@dataclass(frozen=True)
class RunTime:
    """One instance in one currency; ``provisional`` None: nothing of it has a price."""

    instance: str
    account: str | None
    intervals: tuple[Presence, ...]
    running_ms: int
    provisional: Decimal | None
    currency: str

    def as_json(self) -> dict[str, Any]:
        """Give the object of doors.md. No bill is in, so there is no difference to tell yet."""
        return {
            "instance": self.instance,
            "account": self.account,
            "intervals": [{"start": iso(run.start), "end": iso(run.end), "state": run.state} for run in self.intervals],
            "hours": hours(self.running_ms),
            "provisional": plain(self.provisional),
            "billed": plain(ZERO),
            "difference": None,
            "currency": self.currency,
        }


def runtime(
    period: Period,
    *,
    team_ids: Collection[int] | None = None,
    with_unassigned: bool = True,
    instance_ids: Collection[int] | None = None,
) -> list[RunTime]:
    """Give every instance that existed or cost something in ``period``, by account and name; one entry per currency.

    A run that goes on ends where it is metered up to. ``team_ids``: only instances of which these teams bear a part.
    ``instance_ids``: only these.
    """
    costs = _costs(period, team_ids, with_unassigned, instance_ids)
    runs = _runs(period, instance_ids)
    home = organization().currency
    wanted = runs.keys() | costs.keys() if team_ids is None and with_unassigned else set(costs)
    names = instance_names(wanted)
    found: list[RunTime] = []
    for instance in sorted(wanted, key=lambda pk: (names[pk][1] or "", names[pk][0], pk)):
        own = tuple(runs.get(instance, ()))
        running = sum((run.end - run.start) // MILLISECOND for run in own if run.is_running)
        amounts = costs.get(instance) or {home: None}
        found += [RunTime(*names[instance], own, running, amount, currency) for currency, amount in amounts.items()]
    return found


def _costs(
    period: Period,
    team_ids: Collection[int] | None,
    with_unassigned: bool,
    instance_ids: Collection[int] | None,
) -> dict[int, dict[str, Decimal | None]]:
    found: defaultdict[int, dict[str, Decimal | None]] = defaultdict(dict)
    with transaction.atomic(), connection.cursor() as cursor:
        if instance_ids is None:
            join_in_bulk()
        cursor.execute(
            COSTS if instance_ids is None else COSTS_OF_SOME,
            {
                "instances": list(instance_ids or ()),
                "start": period.start,
                "end": period.end,
                "all_teams": team_ids is None,
                "teams": list(team_ids or ()),
                "unassigned": with_unassigned,
            },
        )
        for instance, currency, amount in sorted(cursor.fetchall(), key=lambda row: row[:2]):
            found[instance][currency] = amount
    return found


def _runs(period: Period, instance_ids: Collection[int] | None) -> dict[int, list[Presence]]:
    """Give the runs of states within the period, as far as they are metered."""
    whole = presence(instance_ids, until=period.end)
    until = metered_until(whole)
    found: dict[int, list[Presence]] = {}
    for instance, runs in whole.items():
        end = min(period.end, until.get(instance, period.start))
        cut = [_cut(run, period.start, end) for run in runs if run.start < end and run.end > period.start]
        if cut:
            found[instance] = cut
    return found


def _cut(run: Presence, start: datetime, end: datetime) -> Presence:
    return Presence(max(run.start, start), min(run.end, end), run.state)


def instances_of(period: Period, choice: TeamChoice, part: Slice) -> list[int]:
    """Give the row ids of one instance more than a page has, of which the chosen teams bear a part in ``period``."""
    values: dict[str, Any] = {"after": part.after or 0, "limit": part.limit + 1}
    if choice.team_ids is None and choice.unassigned:
        query = "SELECT id FROM fleet_instance WHERE id > %(after)s ORDER BY id LIMIT %(limit)s"
    else:
        teams = "(team_id = ANY(%(teams)s) OR (%(unassigned)s AND team_id IS NULL))"
        within = f"hour > %(start)s - interval '1 hour' AND hour < %(end)s AND instance_id > %(after)s AND {teams}"
        query = (
            f"SELECT instance_id FROM fleet_gpuhour WHERE {within}"
            f" UNION SELECT instance_id FROM billing_instancehourcost WHERE {within} ORDER BY 1 LIMIT %(limit)s"
        )
        values |= {"teams": sorted(choice.team_ids or ()), "unassigned": choice.unassigned}
        values |= {"start": period.start, "end": period.end}
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return [pk for (pk,) in cursor.fetchall()]


def runtime_page(period: Period, choice: TeamChoice, part: Slice) -> Page:
    """Give the ledger of a page of instances; one that did not exist in ``period`` is left out of its page."""
    ids = instances_of(period, choice, part)
    shown = ids[: part.limit]
    found = runtime(period, team_ids=choice.team_ids, with_unassigned=choice.unassigned, instance_ids=shown)
    return Page([one.as_json() for one in found], shown[-1] if len(ids) > part.limit else None)
