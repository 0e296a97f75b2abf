"""What is idle right now, as the overview shows it."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.filters import read_team
from billing.queries.idle_now import IdleNow, idle_now, read_shown
from billing.queries.prices_now import PricesNow
from billing.tables.blocks import idle_rows
from fleet.queries.standing import FleetNow, fleet_now
from people.roles import TeamChoice
from people.visitor import Visitor, signed_in

IDLE_ON_OVERVIEW = 6
SHORT_LIST = 3  # beside so few idle machines the table of states has room


@require_safe
@signed_in
def idle_top(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Give the overview's list of idle machines anew; it asks for it once a minute."""
    team = request.GET.get("team", "")
    context = {"visitor": visitor} | idle_context(read_team(team, visitor), team, visitor)
    return render(request, "billing/_idle_top.html", context)


def priced(fleet: FleetNow, visitor: Visitor) -> IdleNow:
    """Price what is idle at the time of the page."""
    return idle_now(fleet, PricesNow(), visitor.now)


def idle_context(teams: TeamChoice, team: str, visitor: Visitor) -> dict[str, Any]:
    """Give what the list of idle machines on the overview needs."""
    fleet = fleet_now(teams)
    idle = priced(fleet, visitor)
    shown = read_shown(idle.rows[:IDLE_ON_OVERVIEW])
    return {
        "team": team,
        "idle": idle,
        "fleet": fleet,
        "has_room": len(idle.rows) <= SHORT_LIST,
        "idle_rows": idle_rows(shown, visitor.teams, visitor.now, visitor.house.zone),
    }
