"""Tables of money as pages and files show them: one block per currency, since currencies are never added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from functools import cached_property
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from billing.domain.month_spend import IDLE, MONEY_STATES, MonthSpend, total_of
from billing.queries.idle_now import PricedIdle
from fleet.domain.ports import HourlyPrice
from fleet.tables.record import MachineRow, idle_minutes, machine_kind, sentence_of
from people.queries import TeamName


@dataclass(frozen=True)
class TeamRow:
    """A team's month. ``query`` shows only this team; ``parent`` is the name of the team above it."""

    name: str
    parent: str
    query: str
    is_unassigned: bool
    spend: MonthSpend

    @property
    def idle_money(self) -> Decimal:
        """What idle GPUs cost."""
        return self.spend.idle_money

    @property
    def unknown_hours(self) -> float:
        """GPU-hours of which nothing is known."""
        return self.spend.hours("unknown")

    @property
    def money_by_state(self) -> dict[str, Decimal]:
        """The parts of its bar."""
        return {state: self.spend.of(state) for state in MONEY_STATES}


@dataclass(frozen=True)
class StateRow:
    """A state's GPU-hours and money; ``share_pct`` of all money."""

    state: str
    hours: float | None
    money: Decimal
    share_pct: float | None


@dataclass(frozen=True)
class CurrencyBlock:
    """All of one currency: total, teams by what they spent, Unassigned last."""

    currency: str
    total: MonthSpend
    rows: list[TeamRow]

    @property
    def idle_hours(self) -> float:
        """GPU-hours held or empty."""
        return self.total.hours(*IDLE)

    @property
    def unknown_hours(self) -> float:
        """GPU-hours of which nothing is known."""
        return self.total.hours("unknown")

    @property
    def idle_money(self) -> Decimal:
        """What idle GPUs cost."""
        return self.total.idle_money

    @property
    def idle_pct(self) -> float | None:
        """Share (0 to 100) of the money that idle GPUs cost."""
        return self._share(self.idle_money)

    @property
    def beside_pct(self) -> float | None:
        """Share (0 to 100) of storage, network and other."""
        return self._share(self.total.beside)

    @property
    def money_by_state(self) -> dict[str, Decimal]:
        """The parts of its bar."""
        return {state: self.total.of(state) for state in MONEY_STATES}

    @cached_property
    def largest(self) -> Decimal:
        """Compute money of the largest row: the length of a whole bar."""
        return max((row.spend.of(*MONEY_STATES) for row in self.rows), default=Decimal(0))

    @cached_property
    def state_rows(self) -> list[StateRow]:
        """One row per state; stopped only where running on while stopped costs something."""
        rows = []
        for state in MONEY_STATES:
            hours, money = (None if state == "stopped" else self.total.hours(state)), self.total.of(state)
            if state != "stopped" or money:
                rows.append(StateRow(state, hours, money, self._share(money)))
        return rows

    def _share(self, money: Decimal) -> float | None:
        return float(100 * money / self.total.total) if self.total.total > 0 else None


def currency_blocks(
    spend: Mapping[tuple[str, int | None], MonthSpend], teams: Mapping[int, TeamName], month: str, first: str
) -> list[CurrencyBlock]:
    """Group (currency, team) -> spend into blocks, the organisation's currency ``first``."""
    blocks = []
    for currency in sorted({currency for currency, _team in spend}, key=lambda one: (one != first, one)):
        parts = {team: one for (of, team), one in spend.items() if of == currency and not one.is_nothing}
        if parts:
            rows = [_row(team, one, teams, month) for team, one in parts.items()]
            rows.sort(key=lambda row: (row.is_unassigned, -row.spend.total, row.name.lower()))
            blocks.append(CurrencyBlock(currency, total_of(parts.values()), rows))
    return blocks


def _row(team: int | None, spend: MonthSpend, teams: Mapping[int, TeamName], month: str) -> TeamRow:
    if team is None:
        return TeamRow(_("Unassigned"), "", urlencode({"month": month, "team": "-"}), True, spend)
    name = teams[team].name
    parent = teams.get(teams[team].parent_id or 0)
    return TeamRow(name, parent.name if parent else "", urlencode({"month": month, "team": name}), False, spend)


def largest_teams(block: CurrencyBlock, limit: int) -> tuple[list[str], list[MonthSpend]]:
    """Give names and spend of the largest teams, the others as one (``limit`` bars), and of Unassigned by itself."""
    named = [row for row in block.rows if not row.is_unassigned]
    shown = named if len(named) <= limit else named[: limit - 1]
    bars = [(row.name, row.spend) for row in shown]
    rest = named[len(shown) :]
    if rest:
        bars.append((_("%(count)d more teams") % {"count": len(rest)}, total_of(row.spend for row in rest)))
    bars += [(row.name, row.spend) for row in block.rows if row.is_unassigned]
    return [name for name, _spend in bars], [spend for _name, spend in bars]


def csv_rows(blocks: Iterable[CurrencyBlock]) -> Iterator[list[str]]:
    """Yield header and rows: exact amounts with dot decimals, GPU-hours by state; nothing stands after the last row."""
    states = [f"money_{state}" for state in MONEY_STATES]
    hours = ["working", "low", "held", "empty", "unknown"]
    yield [
        "team",
        "currency",
        "total",
        *states,
        "money_beside_compute",
        *(f"gpu_hours_{one}" for one in hours),
        "gpu_hours_unpriced",
    ]
    for block in blocks:
        for row in block.rows:
            spend = row.spend
            total = "" if spend.is_unpriced else f"{spend.total.normalize():f}"
            money = [f"{spend.of(state).normalize():f}" for state in MONEY_STATES]
            times = [f"{spend.hours(one):.4f}" for one in hours]
            yield [
                row.name, block.currency, total, *money, f"{spend.beside.normalize():f}", *times,
                f"{spend.unpriced_hours:.4f}",
            ]  # fmt: skip


@dataclass(frozen=True)
class IdleRow:
    """An idle machine with its price; None: unpriced."""

    machine: MachineRow
    price: HourlyPrice | None


def idle_rows(priced: Iterable[PricedIdle], teams: Mapping[int, TeamName], at: datetime, zone: tzinfo) -> list[IdleRow]:
    """Make rows of idle machines for a page of ``at``, its times in ``zone``."""
    rows = []
    for one in priced:
        found, price = one.instance, one.price
        team = teams.get(found.team_id or 0)
        minutes = idle_minutes(found.evidence, found.since, at)
        rate = (price.per_hour, price.currency) if price else None
        machine = MachineRow(
            path=found.path,
            name=found.external_id,
            account=found.account or "",
            team=team.name if team else _("Unassigned"),
            kind=machine_kind(found.gpu_count, str(found.attributes.get("gpu_model") or "")),
            state=found.state,
            sentence=sentence_of(
                found.state,
                found.reason,
                found.since,
                found.evidence,
                price=rate,
                at=at,
                zone=zone,
                is_brief=True,
            ),
            since=found.since,
            idle_for=None if minutes is None else timedelta(minutes=minutes),
        )
        rows.append(IdleRow(machine, price))
    return rows
