"""A month by team or cost centre, as the page of teams shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rest_framework import serializers

from billing.api.shapes import ByStateShape, GpuHoursShape
from billing.domain.month_spend import MONEY_STATES, TIME_STATES, MonthSpend
from billing.domain.spend import hours
from billing.filters import MonthChoice, read_choice
from billing.queries.idle_by_team import IdleSum, idle_by_team
from billing.queries.month import month_of
from billing.queries.prices_now import PricesNow
from billing.queries.spend import spend
from billing.tables.folding import folded, roots
from billing.tables.team_lines import idle_money, minus
from common.money import plain
from common.pages import Page, Slice
from common.periods import Period, day_start
from people.api.documented import listed
from people.api.parameters import TEAM, Parameter
from people.api.routes import ListRoute, whole_page
from people.api.shapes import amount, number, text, whole

GROUPINGS = ("each", "team", "cost_center")


class TeamMonthShape(serializers.Serializer[Any]):
    """A team or cost centre in one currency; null money: nothing of it has a price."""

    month = text("like 2025-06")
    team = text("null by cost centre, and of what has no team", null=True)
    sub_teams = whole("how many are folded into it")
    cost_center = text(null=True)
    special = text("unassigned, where there is no team", null=True)
    currency = text()
    total = amount("what has a price; provisional, usage cut, effective", null=True)
    by_state = ByStateShape()
    beside = amount("storage, network and other", null=True)
    idle_cost = amount("held and empty", null=True)
    list_price = amount("the part that rests on suggested prices")
    gpu_hours = GpuHoursShape()
    unpriced_gpu_hours = amount()
    utilization_pct = number("working and low, of the GPU-hours that were seen")
    idle_machines = whole("now; null: the month is over", null=True)
    idle_unpriced = whole("of these, without a price", null=True)
    idle_per_hour = amount("what they cost an hour; null: unpriced, or the month is over", null=True)


@dataclass(frozen=True)
class _Row:
    """One row before it is written; ``idle`` None: nothing of it is idle."""

    currency: str
    spend: MonthSpend
    idle: IdleSum | None
    team: str | None = None
    sub_teams: int = 0
    cost_center: str | None = None
    special: str | None = None


@listed(TeamMonthShape, "A month by team: money and GPU-hours by state, utilisation, what is idle now.")
class TeamMonths(ListRoute):
    """A month by team."""

    own_parameters = (
        Parameter("month", "like 2025-06, in the zone; the newest with data when absent"),
        Parameter("by", "each team; team: sub-teams folded into the topmost; cost_center", choices=GROUPINGS),
        TEAM,
    )

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Cut a page out of the month's rows."""
        choice = read_choice({"month": asked.get("month", ""), "team": asked.get("team", "")}, self.visitor)
        idle = idle_by_team(choice.teams, PricesNow(), self.visitor.now) if choice.is_running else {}
        month = month_of(choice.days, choice.teams).by_team
        if asked.get("by") == "cost_center":
            rows = self._centers(choice, idle, {currency: one for (currency, team), one in month.items() if not team})
        else:
            rows = self._teams(month, idle, into_roots=asked.get("by") == "team")
        ordered = sorted(
            rows, key=lambda row: (row.currency, row.special or "", -row.spend.total, row.team or row.cost_center or "")
        )
        return whole_page([_document(row, choice) for row in ordered], part)

    def _teams(
        self,
        month: Mapping[tuple[str, int | None], MonthSpend],
        idle: Mapping[int | None, IdleSum],
        *,
        into_roots: bool,
    ) -> Iterator[_Row]:
        teams = self.visitor.teams
        into = roots(teams) if into_roots else {pk: pk for pk in teams}
        now = folded({("", team): one for team, one in idle.items()}, into)
        for (currency, team), one in folded(
            {key: one for key, one in month.items() if not one.is_nothing}, into
        ).items():
            if team is None:
                yield _Row(currency, one, now.get(("", None)), special="unassigned")
            else:
                inside = sum(root == team for root in into.values()) - 1
                found = teams[team]
                yield _Row(currency, one, now.get(("", team)), found.name, inside, found.cost_center or None)

    def _centers(
        self, choice: MonthChoice, idle: Mapping[int | None, IdleSum], nobody: Mapping[str, MonthSpend]
    ) -> Iterator[_Row]:
        zone, which = self.visitor.house.zone, choice.teams
        period = Period(day_start(choice.days.first, zone), day_start(choice.days.end, zone))
        now: dict[str | None, IdleSum] = {}
        for team, one in idle.items():
            center = (self.visitor.teams[team].cost_center or None) if team is not None else ""
            now[center] = now[center] + one if center in now else one
        found = spend(
            period, group_by=("cost_center",), team_ids=which.team_ids, with_unassigned=which.unassigned
        )  # fmt: skip
        for row in found.rows:
            center, amounts = row.key["cost_center"], row.as_month_spend()
            if center is None and row.currency in nobody:
                bare = nobody[row.currency]
                amounts = minus(amounts, bare)
                yield _Row(row.currency, bare, now.get(""), special="unassigned")
            if not amounts.is_nothing:
                yield _Row(row.currency, amounts, now.get(center), cost_center=center)


def _document(row: _Row, choice: MonthChoice) -> dict[str, Any]:
    of = row.spend

    def priced(value: Any) -> str | None:
        return None if of.is_unpriced else plain(value)

    idle = idle_money(row.idle, row.currency) if choice.is_running else None
    counted = row.idle or IdleSum({}, 0, 0)
    return {
        "month": f"{choice.month:%Y-%m}",
        "team": row.team,
        "sub_teams": row.sub_teams,
        "cost_center": row.cost_center,
        "special": row.special,
        "currency": row.currency,
        "total": priced(of.total),
        "by_state": {state: priced(of.of(state)) for state in MONEY_STATES},
        "beside": priced(of.beside),
        "idle_cost": priced(of.idle_money),
        "list_price": plain(of.list_price),
        "gpu_hours": {state: hours(of.ms.get(state, 0)) for state in TIME_STATES},
        "unpriced_gpu_hours": hours(of.unpriced_ms),
        "utilization_pct": None if of.working_pct is None else round(of.working_pct, 2),
        "idle_machines": counted.machines if choice.is_running else None,
        "idle_unpriced": counted.unpriced if choice.is_running else None,
        "idle_per_hour": plain(idle.amount) if idle else None,
    }
