"""Teams: the table of all, and one team in full."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from billing.filters import MonthChoice, choose_month, read_choice
from billing.queries.idle_by_team import IdleSum, idle_by_team
from billing.queries.machines import machine_spend
from billing.queries.month import History, history_of, month_of
from billing.queries.prices_now import PricesNow
from billing.queries.spend import spend
from billing.tables.blocks import CurrencyBlock, currency_blocks
from billing.tables.folding import roots
from billing.tables.machine_lines import MACHINES, MachineLine, dearest_waste, machine_lines
from billing.tables.team_lines import (
    CENTERS,
    DAYS,
    MONTHS,
    TEAMS,
    TeamLine,
    center_lines,
    dated_lines,
    line_totals,
    team_lines,
    without_now,
)
from billing.views.pictures import days_picture, months_picture, use_picture
from common.errors import BadInput
from common.exports import file_answer
from common.listed import arranged, listed
from common.listing import TableSpec, read_listing
from common.pages import Slice
from common.periods import Period, day_start
from fleet.queries.health import sources_health
from fleet.queries.lists import findings_page
from fleet.queries.machines_now import machines_now
from fleet.queries.standing import instance_path
from fleet.queries.standing_documents import Reader
from people.queries import TeamName
from people.roles import TeamChoice
from people.visitor import Visitor, signed_in

GROUPINGS = ("team", "each", "cost_center")
FINDINGS_SHOWN = 8
WASTE_SHOWN = 5


@require_safe
@signed_in
def teams(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """Show every team of a month: sub-teams folded into the teams above, each by itself, or by cost centre."""
    choice = read_choice(request.GET, visitor)
    by = request.GET.get("by") or GROUPINGS[0]
    if by not in GROUPINGS:
        raise BadInput("bad_choice", f"by: there is no {by!r}.", hint=f"There are: {', '.join(GROUPINGS)}.")
    if request.GET.get("of") == "days":
        return _dated_file(request, DAYS, dated_lines(month_of(choice.days, choice.teams).by_day, "%Y-%m-%d"), visitor)
    spec = CENTERS if by == "cost_center" else TEAMS
    if not choice.is_running:
        spec = without_now(spec)
    asked = read_listing(request.GET, spec)
    rows = _lines(by, choice, visitor)
    if asked.as_file:
        name = f"{spec.name}-{choice.month:%Y-%m}-usage"
        return file_answer(spec, arranged(rows, asked), asked, name, zone=visitor.house.zone)
    found = arranged(rows, asked)
    context = {
        "nav": "teams", "visitor": visitor, "choice": choice, "by": by, "tabs": _tabs(by, choice),
        "table": listed(rows, asked, line_totals(found)), "caption": _caption(choice, visitor),
        "sources": sources_health(visitor.now), "filters": [choice.month_filter, choice.team_filter(visitor)],
        "keep": [("by", by)] if by != GROUPINGS[0] else [], "worst": _worst(rows), "live": 300,
    }  # fmt: skip
    return render(request, "billing/teams.html", context)


def _lines(by: str, choice: MonthChoice, visitor: Visitor) -> list[TeamLine]:
    idle: dict[int | None, IdleSum] = {}
    if choice.is_running:
        idle = idle_by_team(choice.teams, PricesNow(), visitor.now)
    month = month_of(choice.days, choice.teams).by_team
    if by == "cost_center":
        zone = visitor.house.zone
        period = Period(day_start(choice.days.first, zone), day_start(choice.days.end, zone))
        rows = spend(
            period, group_by=("cost_center",), team_ids=choice.teams.team_ids, with_unassigned=choice.teams.unassigned
        ).rows
        centers = {(row.currency, row.key["cost_center"]): row.as_month_spend() for row in rows}
        nobody = {currency: one for (currency, team), one in month.items() if team is None}
        return center_lines(centers, idle, visitor.teams, nobody)
    into = roots(visitor.teams) if by == "team" else {pk: pk for pk in visitor.teams}
    return team_lines(month, idle, visitor.teams, into, f"{choice.month:%Y-%m}")


def _tabs(by: str, choice: MonthChoice) -> list[dict[str, Any]]:
    words = {"team": _("Teams"), "each": _("Teams and sub-teams"), "cost_center": _("Cost centres")}
    return [
        {"label": words[one], "href": f"/teams/?{choice.query}&by={one}", "current": one == by} for one in GROUPINGS
    ]


def _worst(rows: list[TeamLine]) -> TeamLine | None:
    """Give the team whose idle GPUs cost most."""
    wasting = [row for row in rows if not row.name.flag and row.spend.idle_money > 0]
    return max(wasting, key=lambda row: row.spend.idle_money, default=None)


def _caption(choice: MonthChoice, visitor: Visitor) -> str:
    words = {"period": choice.period_text, "zone": visitor.house.time_zone}
    return _("%(period)s, %(zone)s; usage cut, effective; all provisional; sums are over all rows") % words


@require_safe
@signed_in
def team(request: HttpRequest, visitor: Visitor, name: str) -> HttpResponseBase:
    """Show one team with its sub-teams; another's team is as unknown as one that does not exist."""
    found = visitor.team_named(name)
    if found is None:
        raise Http404
    asked = read_listing(request.GET, MACHINES)
    own = TeamChoice(visitor.team_and_below(found), unassigned=False)
    history = history_of(own, visitor.everything)
    choice = choose_month(request.GET, visitor, history.known, own)
    choice = replace(choice, files="")
    if request.GET.get("of") == "days":
        return _dated_file(request, DAYS, dated_lines(month_of(choice.days, own).by_day, "%Y-%m-%d"), visitor)
    if request.GET.get("of") == "months":
        return _dated_file(request, MONTHS, dated_lines(history.months, "%Y-%m"), visitor)
    rows = _machines(choice, own, visitor)
    if asked.as_file:
        filename = f"{found.name}-{choice.month:%Y-%m}-machines"
        return file_answer(MACHINES, arranged(rows, asked), asked, _plain(filename), zone=visitor.house.zone)
    month = month_of(choice.days, own, choice.before)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    context: dict[str, Any] = {
        "nav": "teams", "visitor": visitor, "team": found, "parent": visitor.teams.get(found.parent_id or 0),
        "choice": choice, "table": listed(rows, asked), "waste": dearest_waste(rows, WASTE_SHOWN),
        "idle": _idle_sum(rows), "findings": _findings(own, visitor), "filters": [choice.month_filter], "live": 300,
        "blocks": [_block(block, month, choice, history, visitor) for block in blocks],
        "subs": _subs(found, month.by_team, rows, visitor, choice), "caption": _caption(choice, visitor),
    }  # fmt: skip
    return render(request, "billing/team.html", context)


def _dated_file(request: HttpRequest, spec: TableSpec, rows: list[TeamLine], visitor: Visitor) -> HttpResponseBase:
    """Send the figures of a picture; without a form, for spreadsheets."""
    asked = read_listing(request.GET, spec)
    asked = replace(asked, as_file=asked.as_file or "csv")
    return file_answer(spec, arranged(rows, asked), asked, f"{spec.name}-usage", zone=visitor.house.zone)


def _plain(name: str) -> str:
    """Give a file's name without what a file's name can't hold."""
    return "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "_" for letter in name)


def _machines(choice: MonthChoice, own: TeamChoice, visitor: Visitor) -> list[MachineLine]:
    money = machine_spend(choice.days, own)
    present = machines_now(own, ids={pk for pk, _currency in money}, with_present=choice.is_running)
    prices = PricesNow().prices([one.id for one in present], visitor.now)
    return machine_lines(present, money, prices, visitor)


def _idle_sum(rows: list[MachineLine]) -> IdleSum:
    """Add up what is idle now; a machine that has rows in two currencies counts once."""
    seen: dict[int, MachineLine] = {row.machine.id: row for row in rows if row.machine and row.is_idle}
    per_hour: dict[str, Any] = {}
    for row in seen.values():
        if row.rate:
            per_hour[row.rate.currency] = per_hour.get(row.rate.currency, 0) + row.rate.per_hour
    return IdleSum(per_hour, len(seen), sum(row.rate is None for row in seen.values()))


def _findings(own: TeamChoice, visitor: Visitor) -> list[dict[str, Any]]:
    reader = Reader(visitor.everything, {pk: one.name for pk, one in visitor.teams.items()}, visitor.now)
    items = findings_page({"open": True}, Slice(FINDINGS_SHOWN), own, reader).items
    for one in items:
        place = one["instance"]
        one["path"] = instance_path(one["subject"]["account"], place) if place else ""
        one["lasted"] = timedelta(minutes=one["minutes"] or 0)
    return items


def _subs(
    found: TeamName, by_team: Any, rows: list[MachineLine], visitor: Visitor, choice: MonthChoice
) -> list[TeamLine]:
    """Give the team itself and its sub-teams, each with what is below it; none without sub-teams."""
    below = visitor.team_and_below(found)
    if len(below) < 2:
        return []
    inside = {pk: one for pk, one in visitor.teams.items() if pk in below}
    idle: dict[int | None, IdleSum] = {}
    seen = {row.machine.id: row for row in rows if row.machine and row.is_idle}
    for row in seen.values():
        key = row.machine.team_id if row.machine else None
        one = IdleSum({row.rate.currency: row.rate.per_hour} if row.rate else {}, 1, int(row.rate is None))
        idle[key] = idle[key] + one if key in idle else one
    into = roots(inside, below=found.id)
    return team_lines(by_team, idle, inside, into, f"{choice.month:%Y-%m}")


def _block(block: CurrencyBlock, month: Any, choice: MonthChoice, history: History, visitor: Visitor) -> dict[str, Any]:
    daily = {day: one for (currency, day), one in month.by_day.items() if currency == block.currency}
    months = {first: one for (currency, first), one in history.months.items() if currency == block.currency}
    facts: dict[str, Any] = {"choice": choice, "zone": visitor.house.time_zone, "until": history.metered_until}
    return {
        "block": block,
        "change": choice.change(month, block.currency),
        "days": days_picture(daily, block.currency, rows="#machines", **facts),
        "use": use_picture(daily, block.currency, rows="#machines", **facts),
        "months": months_picture(months, block.currency, rows="#machines", **facts),
    }
