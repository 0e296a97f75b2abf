"""Pages of money: the overview with its files, and what is idle right now."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing import charts
from billing.filters import MonthChoice, read_choice, read_team
from billing.queries.idle_now import IdleNow, idle_now, read_shown
from billing.queries.month import Month, month_of
from billing.queries.prices_now import PricesNow
from billing.tables import CurrencyBlock, csv_rows, currency_blocks, idle_rows, largest_teams
from common.csv_files import csv_lines
from common.errors import BadInput
from common.state_words import STATE_WORDS
from fleet.queries.health import sources_health
from fleet.queries.standing import FleetNow, fleet_now
from people.roles import TeamChoice
from people.visitor import Visitor, signed_in

TEAMS_IN_PICTURE = 8
IDLE_ON_OVERVIEW = 6
IDLE_ON_PAGE = 50
SHORT_LIST = 3  # beside so few idle machines the table of states has room


@require_safe
@signed_in
def overview(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Answer the manager's question: what do we spend, who does, and what of it is wasted."""
    try:
        choice = read_choice(request.GET, visitor)
    except BadInput as error:
        return render(request, "400.html", {"hint": f"{error.message} {error.hint}"}, status=400)
    context: dict[str, Any] = {"nav": "overview", "visitor": visitor, "choice": choice}
    context["sources"] = sources_health(visitor.now)
    context |= _idle_context(choice.teams, choice.team, visitor)
    if not choice.has_data and not context["fleet"].instances:
        context["is_failing"] = any(source.is_failing for source in context["sources"])
        return render(request, "billing/first_run.html", context)
    month = month_of(choice.days, choice.teams)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    context |= {"blocks": _with_pictures(blocks, month, choice)}
    return render(request, "billing/overview.html", context)


@require_safe
@signed_in
def overview_csv(request: HttpRequest, visitor: Visitor) -> HttpResponse | StreamingHttpResponse:
    """Send the table of teams as a file, exact amounts, row by row."""
    try:
        choice = read_choice(request.GET, visitor)
    except BadInput as error:
        return HttpResponse(f"{error.message} {error.hint}\n", status=400, content_type="text/plain; charset=utf-8")
    month = month_of(choice.days, choice.teams)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    answer = StreamingHttpResponse(csv_lines(csv_rows(blocks)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="fleetledger-teams-{choice.month:%Y-%m}-usage.csv"'
    return answer


@require_safe
@signed_in
def idle_top(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Give the overview's list of idle machines anew; it asks for it once a minute."""
    team = request.GET.get("team", "")
    context = {"visitor": visitor} | _idle_context(read_team(team, visitor), team, visitor)
    return render(request, "billing/_idle_top.html", context)


@require_safe
@signed_in
def idle_list(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """List every machine that is idle now, dearest first, page by page."""
    team = request.GET.get("team", "")
    idle = _priced(fleet_now(read_team(team, visitor)), visitor)
    page = Paginator(idle.rows, IDLE_ON_PAGE).get_page(request.GET.get("page"))
    rows = idle_rows(read_shown(list(page)), visitor.teams, visitor.now, visitor.house.zone)
    context = {"nav": "idle", "visitor": visitor, "team": team, "idle": idle, "page": page, "rows": rows}
    return render(request, "billing/idle.html", context | {"sources": sources_health(visitor.now)})


def _priced(fleet: FleetNow, visitor: Visitor) -> IdleNow:
    return idle_now(fleet, PricesNow(), visitor.now)


def _idle_context(teams: TeamChoice, team: str, visitor: Visitor) -> dict[str, Any]:
    """Give what the list of idle machines on the overview needs."""
    fleet = fleet_now(teams)
    idle = _priced(fleet, visitor)
    shown = read_shown(idle.rows[:IDLE_ON_OVERVIEW])
    return {
        "team": team,
        "idle": idle,
        "fleet": fleet,
        "has_room": len(idle.rows) <= SHORT_LIST,
        "idle_rows": idle_rows(shown, visitor.teams, visitor.now, visitor.house.zone),
    }


def _with_pictures(blocks: list[CurrencyBlock], month: Month, choice: MonthChoice) -> list[dict[str, Any]]:
    """Give each block its figures as JSON values, with the ids under which the page finds them."""
    words = {key: str(word) for key, word in STATE_WORDS.items()}
    length = (choice.days.end - choice.days.first).days
    days = [choice.days.first + timedelta(days=index) for index in range(length)]
    result = []
    for index, block in enumerate(blocks):
        daily = {day: one for (currency, day), one in month.by_day.items() if currency == block.currency}
        names, parts = largest_teams(block, TEAMS_IN_PICTURE)
        result.append(
            {
                "block": block,
                "days_id": f"figure-days-{index}",
                "days": charts.daily_spend(days, daily, block.currency, words),
                "teams_id": f"figure-teams-{index}",
                "teams": charts.team_spend(names, parts, block.currency, words),
                "bars": len(names),
                "gaps": choice.gaps(daily),
            }
        )
    return result
