"""The overview: what a person must know first."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing import charts
from billing.filters import MonthChoice, read_choice
from billing.queries.month import Month, month_of
from billing.tables.blocks import CurrencyBlock, csv_rows, currency_blocks, largest_teams
from billing.views.idle import idle_context
from common.csv_files import csv_lines
from common.errors import BadInput
from common.refusal_words import told
from common.state_words import STATE_WORDS
from fleet.queries.health import sources_health
from people.visitor import Visitor, signed_in

TEAMS_IN_PICTURE = 8


@require_safe
@signed_in
def overview(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Answer the manager's question: what do we spend, who does, and what of it is wasted."""
    try:
        choice = read_choice(request.GET, visitor)
    except BadInput as error:
        return render(request, "400.html", {"hint": told(error)}, status=400)
    context: dict[str, Any] = {"nav": "overview", "visitor": visitor, "choice": choice}
    context["sources"] = sources_health(visitor.now)
    context |= idle_context(choice.teams, choice.team, visitor)
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
        return HttpResponse(f"{told(error)}\n", status=400, content_type="text/plain; charset=utf-8")
    month = month_of(choice.days, choice.teams)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    answer = StreamingHttpResponse(csv_lines(csv_rows(blocks)), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="fleetledger-teams-{choice.month:%Y-%m}-usage.csv"'
    return answer


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
