"""Finance's question: does every cent have an owner, and can I have it as a file."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

from billing.filters import MonthChoice
from billing.queries.month import month_of
from billing.queries.spend import spend
from billing.tables.blocks import CurrencyBlock, currency_blocks
from billing.tables.folding import roots
from billing.tables.team_lines import center_lines, team_lines
from common.periods import Period, day_start
from fleet.queries.standing import FleetNow
from people.visitor import Visitor


def finance_context(choice: MonthChoice, visitor: Visitor, _fleet: FleetNow) -> dict[str, Any]:
    """Give the month by cost centre and by team, what of it is open, and the files."""
    zone = visitor.house.zone
    month = month_of(choice.days, choice.teams, choice.before)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    period = Period(day_start(choice.days.first, zone), day_start(choice.days.end, zone))
    rows = spend(
        period, group_by=("cost_center",), team_ids=choice.teams.team_ids, with_unassigned=choice.teams.unassigned
    ).rows
    centers = center_lines(
        {(row.currency, row.key["cost_center"]): row.as_month_spend() for row in rows}, {}, visitor.teams,
        {currency: one for (currency, team), one in month.by_team.items() if team is None},
    )  # fmt: skip
    teams = team_lines(month.by_team, {}, visitor.teams, roots(visitor.teams), f"{choice.month:%Y-%m}")
    last = (choice.today.replace(day=1) - timedelta(days=1)).replace(day=1)
    return {
        "blocks": [_block(block, choice.change(month, block.currency)) for block in blocks],
        "centers": centers,
        "teams": teams,
        "files": [_files(last, choice), *([_files(choice.month, choice)] if choice.month != last else [])],
        "filters": [choice.month_filter, choice.team_filter(visitor)],
    }


def _block(block: CurrencyBlock, change: str) -> dict[str, Any]:
    nobody = next((row.spend for row in block.rows if row.is_unassigned), None)
    whole = block.total.total
    share = float(100 * nobody.total / whole) if nobody and whole > 0 else None
    unpriced = 100 * block.total.unpriced_hours / block.total.all_hours if block.total.all_hours else None
    return {
        "block": block, "change": change, "unassigned": nobody, "unassigned_pct": share, "unpriced_pct": unpriced
    }  # fmt: skip


def _files(month: date, choice: MonthChoice) -> dict[str, Any]:
    team = f"&team={choice.team}" if choice.team else ""
    return {"month": month, "query": f"month={month:%Y-%m}{team}", "is_running": month == choice.today.replace(day=1)}
