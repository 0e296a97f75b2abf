"""Pages of money: the overview and its files."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from billing import charts
from billing.filters import MonthChoice, read_choice
from billing.queries.month import by_day, by_team
from billing.tables import CurrencyBlock, csv_rows, currency_blocks
from common.csv_files import csv_lines
from common.errors import BadInput
from common.figures import web_json
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
        return render(request, "400.html", {"hint": f"{error.message} {error.hint}"}, status=400)
    sources = sources_health(visitor.now)
    context: dict[str, Any] = {"nav": "overview", "visitor": visitor, "choice": choice, "sources": sources}
    if not choice.has_data:
        return render(request, "billing/first_run.html", context)
    blocks = _blocks(choice, visitor)
    context |= {"blocks": blocks, "pictures": _pictures(blocks, choice)}
    return render(request, "billing/overview.html", context)


@require_safe
@signed_in
def overview_csv(request: HttpRequest, visitor: Visitor) -> HttpResponse | StreamingHttpResponse:
    """Send the table of teams as a file, exact amounts, row by row."""
    try:
        choice = read_choice(request.GET, visitor)
    except BadInput as error:
        return HttpResponse(f"{error.message} {error.hint}\n", status=400, content_type="text/plain; charset=utf-8")
    answer = StreamingHttpResponse(
        csv_lines(csv_rows(_blocks(choice, visitor))), content_type="text/csv; charset=utf-8"
    )
    answer["Content-Disposition"] = f'attachment; filename="fleetledger-teams-{choice.month:%Y-%m}-usage.csv"'
    return answer


def _blocks(choice: MonthChoice, visitor: Visitor) -> list[CurrencyBlock]:
    spend = by_team(choice.days, choice.teams)
    return currency_blocks(spend, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)


def _pictures(blocks: list[CurrencyBlock], choice: MonthChoice) -> list[dict[str, Any]]:
    """Give per block its figures as JSON values with the ids under which the page finds them."""
    daily = by_day(choice.days, choice.teams)
    words = charts.Words({key: str(word) for key, word in STATE_WORDS.items()}, _("Storage, network, other"))
    length = (choice.days.end - choice.days.first).days
    days = [choice.days.first + timedelta(days=index) for index in range(length)]
    pictures = []
    for index, block in enumerate(blocks):
        spend: dict[date, Any] = {day: one for (currency, day), one in daily.items() if currency == block.currency}
        names, parts = _largest(block)
        pictures.append(
            {
                "days": f"figure-days-{index}",
                "days_json": web_json(charts.daily_spend(days, spend, block.currency, words)),
                "teams": f"figure-teams-{index}",
                "teams_json": web_json(charts.team_spend(names, parts, block.currency, words)),
                "teams_rows": len(names),
            }
        )
    return pictures


def _largest(block: CurrencyBlock) -> tuple[list[str], list[Any]]:
    """Give the largest teams one by one, the others as one bar, Unassigned always by itself."""
    named = [row for row in block.rows if not row.is_unassigned]
    shown = named if len(named) <= TEAMS_IN_PICTURE else named[: TEAMS_IN_PICTURE - 1]
    names, parts = [row.name for row in shown], [row.spend for row in shown]
    rest = named[len(shown) :]
    if rest:
        together = rest[0].spend
        for row in rest[1:]:
            together = together + row.spend
        names.append(_("%(count)d more teams") % {"count": len(rest)})
        parts.append(together)
    for row in block.rows:
        if row.is_unassigned:
            names.append(row.name)
            parts.append(row.spend)
    return names, parts
