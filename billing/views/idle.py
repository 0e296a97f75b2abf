"""Pages of what is idle right now."""

from __future__ import annotations

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.filters import read_team
from billing.queries.idle_now import IdleNow, idle_now, read_shown
from billing.queries.prices_now import PricesNow
from billing.tables.blocks import idle_rows
from fleet.queries.health import sources_health
from fleet.queries.standing import FleetNow, fleet_now
from people.roles import TeamChoice
from people.visitor import Visitor, signed_in

IDLE_ON_OVERVIEW = 6
IDLE_ON_PAGE = 50
SHORT_LIST = 3  # beside so few idle machines the table of states has room


@require_safe
@signed_in
def idle_top(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Give the overview's list of idle machines anew; it asks for it once a minute."""
    team = request.GET.get("team", "")
    context = {"visitor": visitor} | idle_context(read_team(team, visitor), team, visitor)
    return render(request, "billing/_idle_top.html", context)


@require_safe
@signed_in
def idle_list(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """List every machine that is idle now, dearest first, page by page."""
    team = request.GET.get("team", "")
    idle = priced(fleet_now(read_team(team, visitor)), visitor)
    page = Paginator(idle.rows, IDLE_ON_PAGE).get_page(request.GET.get("page"))
    rows = idle_rows(read_shown(list(page)), visitor.teams, visitor.now, visitor.house.zone)
    context = {"nav": "idle", "visitor": visitor, "team": team, "idle": idle, "page": page, "rows": rows}
    return render(request, "billing/idle.html", context | {"sources": sources_health(visitor.now)})


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
