"""The manager's question: what do we spend, what of it is wasted, by whom and why."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from billing.domain.month_spend import MonthSpend
from billing.filters import MonthChoice
from billing.queries.idle_by_team import IdleSum
from billing.queries.idle_now import idle_now
from billing.queries.machines import Wasteful, most_wasteful
from billing.queries.month import month_of
from billing.queries.prices_now import PricesNow
from billing.sentences import Largest, waste_sentence
from billing.tables.blocks import currency_blocks
from billing.tables.folding import roots
from billing.tables.team_lines import TeamLine, team_lines
from billing.views.pictures import days_picture
from fleet.queries.standing import FleetNow
from people.visitor import Visitor

WASTE_SHOWN = 5


@dataclass(frozen=True)
class Waste:
    """A team whose idle GPUs cost money, with the reason; ``path``: the machine that cost most, "" for none."""

    line: TeamLine
    sentence: str
    path: str


def manager_context(choice: MonthChoice, visitor: Visitor, fleet: FleetNow) -> dict[str, Any]:
    """Give what the view needs: one block per currency, idle money now, who wastes most."""
    month = month_of(choice.days, choice.teams, choice.before)
    idle = idle_now(fleet, PricesNow(), visitor.now)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    waste = wasting_teams(month.by_team, choice, visitor)
    shown = []
    for block in blocks:
        daily = {day: one for (currency, day), one in month.by_day.items() if currency == block.currency}
        picture = days_picture(
            daily,
            block.currency,
            choice=choice,
            zone=visitor.house.time_zone,
            until=None,
            rows=f"/teams/?{choice.query}",
        )
        shown.append(
            {
                "block": block,
                "change": choice.change(month, block.currency),
                "days": replace(picture, legend=()),  # the table of states below has the swatches
                "waste": [one for one in waste if one.line.currency == block.currency][:WASTE_SHOWN],
                "unassigned": next((row.spend for row in block.rows if row.is_unassigned), None),
            }
        )
    return {
        "blocks": shown,
        "idle": IdleSum(idle.per_hour, len(idle.rows), idle.unpriced),
        "filters": [choice.month_filter, choice.team_filter(visitor)],
    }


def wasting_teams(
    by_team: dict[tuple[str, int | None], MonthSpend], choice: MonthChoice, visitor: Visitor
) -> list[Waste]:
    """Give the teams (sub-teams folded) whose idle GPUs cost something, the most first, with the reason."""
    into = roots(visitor.teams)
    lines = team_lines(by_team, {}, visitor.teams, into, f"{choice.month:%Y-%m}")
    lines = sorted((line for line in lines if line.spend.idle_money > 0), key=lambda line: -line.spend.idle_money)
    largest = _largest_by_root(choice, into, {team for _currency, team in by_team})
    ids = {visitor.teams[pk].name: pk for pk in visitor.teams}
    found = []
    for line in lines:
        one = largest.get((line.currency, None if line.name.flag else ids[line.name.text]))
        found.append(_waste(line, one, visitor))
    return found


def _largest_by_root(
    choice: MonthChoice, into: dict[int, int], teams: set[int | None]
) -> dict[tuple[str, int | None], Wasteful]:
    """Give the most wasteful machine of each team with those below it."""
    found: dict[tuple[str, int | None], Wasteful] = {}
    for (currency, team), one in most_wasteful(choice.days, choice.teams, teams).items():
        key = (currency, None if team is None else into.get(team, team))
        known = found.get(key)
        if known is None:
            found[key] = one
        else:
            first, second = (known, one) if known.idle >= one.idle else (one, known)
            found[key] = first.beside(second.machines)
    return found


def _waste(line: TeamLine, one: Wasteful | None, visitor: Visitor) -> Waste:
    if one is None:
        return Waste(line, waste_sentence(line.spend, line.currency, None, visitor.now), "")
    is_named = visitor.everything.covers(one.team_id)
    name = one.external_id if is_named else ""
    largest = Largest(name, one.idle, one.machines, one.state, one.since)
    sentence = waste_sentence(line.spend, line.currency, largest, visitor.now)
    return Waste(line, sentence, one.path if is_named else "")
