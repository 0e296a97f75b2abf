"""The engineer's question: which of my machines is idle or about to be, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils.formats import date_format

from billing.filters import MonthChoice
from billing.queries.machines import machine_spend
from billing.queries.prices_now import PricesNow
from billing.sentences import flagged_sentence
from billing.tables.machine_lines import MachineLine, idle_for, machine_lines
from fleet.domain.states import IDLE
from fleet.queries.machines_now import MachineNow, machines_now
from fleet.queries.standing import FleetNow
from people.roles import TeamChoice, visible_teams
from people.visitor import Visitor

OWN_TEAM = frozenset({"engineer", "team_lead"})
MOST = 400  # more machines than these are no longer "mine": they are the team's page


@dataclass(frozen=True)
class Mine:
    """One of my machines. ``idle_for``: None unless idle; ``next``: when it would be flagged, "" for no time soon."""

    line: MachineLine
    idle_for: timedelta | None
    next: str
    is_own: bool


def engineer_context(choice: MonthChoice, visitor: Visitor, _fleet: FleetNow) -> dict[str, Any]:
    """Give the machines that are this person's or of their teams: idle ones, those that would be next, the others."""
    machines = my_machines(visitor)
    prices = PricesNow().prices([one.id for one in machines], visitor.now)
    ids = {one.id for one in machines}
    money = {key: one for key, one in machine_spend(choice.days, choice.teams).items() if key[0] in ids}
    lines = machine_lines(machines, money, prices, visitor)
    rows = [_mine(line, visitor) for line in lines if line.machine is not None]
    per_hour: dict[str, Any] = {}
    for row in {row.line.machine.id: row for row in rows if row.line.machine and row.line.is_idle}.values():
        if row.line.rate:
            currency = row.line.rate.currency
            per_hour[currency] = per_hour.get(currency, 0) + row.line.rate.per_hour
    idle = [row for row in rows if row.line.is_idle]
    soon = [row for row in rows if row.next and not row.line.is_idle]
    return {
        "idle_rows": sorted(idle, key=lambda row: -(row.idle_for or timedelta(0))),
        "soon_rows": sorted(soon, key=lambda row: str(row.line.machine and row.line.machine.idle_at)),
        "other_rows": [row for row in rows if row not in idle and row not in soon],
        "per_hour": per_hour,
        "filters": [choice.month_filter],
    }


def my_machines(visitor: Visitor) -> list[MachineNow]:
    """Give the machines that name this person as owner, and those of the teams in which they are engineer or lead."""
    owned = machines_now(visitor.everything, owners=_names(visitor))
    granted = [grant.team_id for grant in visitor.house.granted if grant.role in OWN_TEAM and grant.team_id is not None]
    teams = visible_teams(granted, visitor.parents)
    if not teams:
        return owned
    ours = machines_now(TeamChoice(teams, unassigned=False))[:MOST]
    known = {one.id for one in owned}
    return [*owned, *(one for one in ours if one.id not in known)]


def _names(visitor: Visitor) -> list[str]:
    """The spellings by which inventories name a person: the address, and what stands before its @."""
    address = visitor.user.email
    return [address, address.split("@", maxsplit=1)[0]]


def _mine(line: MachineLine, visitor: Visitor) -> Mine:
    machine = line.machine
    assert machine is not None, "only machines that are known"
    text = ""
    if machine.idle_at is not None and machine.state not in IDLE:
        text = flagged_sentence(
            machine.idle_at, visitor.now, date_format(machine.idle_at.astimezone(visitor.house.zone), "TIME_FORMAT")
        )
    own = machine.owner.lower() in _names(visitor)
    return Mine(line, idle_for(machine, visitor), text, own)
