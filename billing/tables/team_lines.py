"""Rows of teams and cost centres for tables and files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from billing.domain.month_spend import MONEY_STATES, MonthSpend, total_of
from billing.queries.idle_by_team import IdleSum
from billing.tables.folding import folded
from common.cells import Kind, Link, Money
from common.formats import hours
from common.listed import Total
from common.listing import Column, TableSpec
from people.queries import TeamName

PARTS = (*MONEY_STATES, "beside")
HOUR_COLUMNS = ("working", "low", "held", "empty", "unknown")


@dataclass(frozen=True)
class TeamLine:
    """A team, Unassigned or a cost centre in one currency; ``idle_now`` is what its idle machines cost an hour now."""

    name: Link
    cost_center: str
    currency: str
    spend: MonthSpend
    idle_now: Money | None

    def __getattr__(self, key: str) -> Any:
        """Give money by state (`working`), GPU-hours by state (`hours_working`): the columns of `TEAMS`."""
        if key.startswith("hours_"):
            return self.spend.hours(key.removeprefix("hours_"))
        if key in MONEY_STATES:
            return None if self.spend.is_unpriced else self.spend.of(key)
        raise AttributeError(key)

    @property
    def spent(self) -> Money:
        """All that has a price; what has none stands under it."""
        part = self.spend
        if part.is_unpriced:
            return Money(None, self.currency)
        note = _("+ %(hours)s GPU-hours unpriced") % {"hours": hours(part.unpriced_hours)} if part.unpriced_ms else ""
        return Money(part.total, self.currency, note)

    @property
    def idle(self) -> Decimal | None:
        """What held and empty GPUs cost."""
        return None if self.spend.is_unpriced else self.spend.idle_money

    @property
    def beside(self) -> Decimal | None:
        """Storage, network and other."""
        return None if self.spend.is_unpriced else self.spend.beside

    @property
    def mix(self) -> dict[str, Decimal]:
        """Money by state, for the bar."""
        return {state: self.spend.of(state) for state in MONEY_STATES}

    @property
    def working_pct(self) -> float | None:
        """Working share of the GPU-hours that were seen."""
        return self.spend.working_pct

    @property
    def gpu_hours(self) -> float:
        """All GPU-hours."""
        return self.spend.all_hours

    @property
    def unpriced_gpu_hours(self) -> float:
        """GPU-hours without a price."""
        return self.spend.unpriced_hours

    @property
    def flag(self) -> str:
        """The class of its row."""
        return "flagged" if self.name.flag else ""


def _columns(first: Column, *more: Column) -> tuple[Column, ...]:
    money = gettext_lazy("Held and empty: paid for, and nothing ran.")
    return (
        first,
        Column("spent", gettext_lazy("Spent"), Kind.MONEY, total=True),
        Column("working", pgettext_lazy("state", "Working"), Kind.MONEY, total=True, desk=True),
        Column("low", pgettext_lazy("state", "Low"), Kind.MONEY, total=True, desk=True),
        Column("held", pgettext_lazy("state", "Held"), Kind.MONEY, total=True, desk=True),
        Column("empty", pgettext_lazy("state", "Empty"), Kind.MONEY, total=True, desk=True),
        Column("unknown", pgettext_lazy("state", "Unknown"), Kind.MONEY, total=True, desk=True),
        Column("stopped", pgettext_lazy("state", "Stopped"), Kind.MONEY, in_page=False),
        Column("beside", pgettext_lazy("state", "Storage, network, other"), Kind.MONEY, in_page=False),
        Column("idle", gettext_lazy("Idle cost"), Kind.MONEY, total=True, help=money),
        Column("idle_now", gettext_lazy("Idle now"), Kind.PER_HOUR, total=True),
        Column("working_pct", gettext_lazy("Utilisation"), Kind.PERCENT, total=True, places=0),
        Column("gpu_hours", gettext_lazy("GPU-hours"), Kind.HOURS, total=True, desk=True),
        *(Column(f"hours_{one}", f"GPU-hours {one}", Kind.NUMBER, in_page=False, places=4) for one in HOUR_COLUMNS),
        Column("unpriced_gpu_hours", gettext_lazy("Unpriced GPU-hours"), Kind.NUMBER, in_page=False, places=4),
        *more,
    )


CENTER = Column("cost_center", gettext_lazy("Cost centre"), desk=True)
TEAMS = TableSpec(
    "teams", _columns(Column("name", gettext_lazy("Team"), Kind.LINK), CENTER), "-spent", page_size=100, flag="flag"
)
CENTERS = TableSpec(
    "cost-centres", _columns(Column("name", gettext_lazy("Cost centre"), Kind.LINK)), "-spent", page_size=100,
    flag="flag",
)  # fmt: skip


def without_now(spec: TableSpec) -> TableSpec:
    """Leave out what is idle now, for a month that is over."""
    return replace(spec, columns=tuple(column for column in spec.columns if column.key != "idle_now"))


DAYS = without_now(TableSpec("days", _columns(Column("name", gettext_lazy("Day"), Kind.LINK)), "name"))
MONTHS = without_now(TableSpec("months", _columns(Column("name", gettext_lazy("Month"), Kind.LINK)), "name"))


def dated_lines(spend: Mapping[tuple[str, date], MonthSpend], form: str) -> list[TeamLine]:
    """Make a row per (currency, day or month), for the files of pictures; ``form`` writes the date."""
    return [TeamLine(Link(format(day, form)), "", currency, one, None) for (currency, day), one in spend.items()]


def team_lines(
    spend: Mapping[tuple[str, int | None], MonthSpend],
    idle: Mapping[int | None, IdleSum],
    teams: Mapping[int, TeamName],
    into: Mapping[int, int],
    month: str,
) -> list[TeamLine]:
    """Make a row per (currency, team), sub-teams folded ``into`` others; Unassigned is flagged."""
    money = folded({key: one for key, one in spend.items() if not one.is_nothing}, into)
    now = folded({("", team): one for team, one in idle.items()}, into)
    rows = []
    for (currency, team), one in money.items():
        name = Link(_("Unassigned"), "/unassigned/", flag=True) if team is None else _named(team, teams, into, month)
        center = "" if team is None else teams[team].cost_center
        rows.append(TeamLine(name, center, currency, one, idle_money(now.get(("", team)), currency)))
    return sorted(rows, key=lambda row: (row.currency, row.name.flag, -row.spend.total, row.name.text.casefold()))


def _named(team: int, teams: Mapping[int, TeamName], into: Mapping[int, int], month: str) -> Link:
    inside = sum(1 for one, root in into.items() if root == team and one != team)
    note = ngettext("with one sub-team", "with %(n)s sub-teams", inside) % {"n": inside} if inside else ""
    parent = teams.get(teams[team].parent_id or 0)
    if not note and parent is not None:
        note = _("part of %(parent)s") % {"parent": parent.name}
    return Link(teams[team].name, team_path(teams[team].name, month), note)


def team_path(name: str, month: str = "") -> str:
    """Give the address of a team's page, of a month if one is given."""
    return f"/teams/{quote(name, safe='')}/" + (f"?{urlencode({'month': month})}" if month else "")


def idle_money(idle: IdleSum | None, currency: str) -> Money | None:
    """Give what is idle now in a currency: nothing is 0, and unpriced where only machines without a price are idle."""
    if idle is None:
        return Money(Decimal(0), currency)
    amount = idle.per_hour.get(currency)
    if amount is None:
        return Money(None if idle.unpriced and not idle.per_hour else Decimal(0), currency)
    return Money(amount, currency)


def center_lines(
    spend: Mapping[tuple[str, str | None], MonthSpend], idle: Mapping[int | None, IdleSum],
    teams: Mapping[int, TeamName], unassigned: Mapping[str, MonthSpend],
) -> list[TeamLine]:  # fmt: skip
    """Make a row per (currency, cost centre). Teams without one and Unassigned stand in rows of their own."""
    now: dict[str | None, IdleSum] = {}
    for team, idle_sum in idle.items():
        of = "" if team is None else teams[team].cost_center or None
        now[of] = now[of] + idle_sum if of in now else idle_sum
    rows = []
    for (currency, center), one in spend.items():
        bare = one
        if center is None and currency in unassigned:
            nobody = unassigned[currency]
            rows.append(
                TeamLine(
                    Link(_("Unassigned"), "/unassigned/", flag=True),
                    "",
                    currency,
                    nobody,
                    idle_money(now.get(""), currency),
                )
            )
            bare = minus(one, nobody)
        if not bare.is_nothing:
            link = Link(center or _("No cost centre"), "", "" if center else _("teams that have none"), not center)
            rows.append(TeamLine(link, center or "", currency, bare, idle_money(now.get(center), currency)))
    return sorted(rows, key=lambda row: (row.currency, row.name.flag, -row.spend.total))


def minus(whole: MonthSpend, part: MonthSpend) -> MonthSpend:
    """Take a part out of a sum."""
    return whole + MonthSpend(
        {state: -part.of(state) for state in MONEY_STATES}, -part.beside, -part.list_price,
        {state: -ms for state, ms in part.ms.items()}, -part.unpriced_ms, -part.unpriced_disk_hours,
    )  # fmt: skip


def line_totals(rows: Iterable[TeamLine]) -> dict[str, Any]:
    """Give the totals that are no sums."""
    return {"working_pct": Total(total_of(row.spend for row in rows).working_pct)}
