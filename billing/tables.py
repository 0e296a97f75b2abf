"""Tables of money as pages and files show them: one block per currency, since currencies are never added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.translation import gettext as _

from billing.domain.month_spend import IDLE, MONEY_STATES, MonthSpend, total_of
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
    def idle_money(self) -> object:
        """What idle GPUs cost."""
        return self.spend.of(*IDLE)

    @property
    def money_by_state(self) -> dict[str, object]:
        """The parts of its bar."""
        return {state: self.spend.of(state) for state in MONEY_STATES}


@dataclass(frozen=True)
class CurrencyBlock:
    """All of one currency: total, teams by what they spent, Unassigned last."""

    currency: str
    total: MonthSpend
    rows: list[TeamRow]

    @property
    def idle_minutes(self) -> float:
        """GPU-minutes held or empty."""
        return self.total.time(*IDLE)

    @property
    def unknown_minutes(self) -> float:
        """GPU-minutes of which nothing is known."""
        return self.total.time("unknown")

    @property
    def idle_money(self) -> object:
        """What idle GPUs cost."""
        return self.total.of(*IDLE)


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
            times = [f"{spend.time(one) / 60:.4f}" for one in hours]
            yield [
                row.name, block.currency, total, *money, f"{spend.beside.normalize():f}", *times,
                f"{spend.minutes_unpriced / 60:.4f}",
            ]  # fmt: skip
