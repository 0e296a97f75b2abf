"""The admin's question: do we see everything, and can we say what we see."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from alerts.queries.outbox import trouble_since
from billing.filters import MonthChoice
from billing.queries.month import month_of
from billing.tables.blocks import currency_blocks
from fleet.queries.blind_now import Blind, blind_now
from fleet.queries.standing import FleetNow
from fleet.sentences import reason_sentence
from people.visitor import Visitor

SHOWN = 8
LATELY = timedelta(hours=24)


@dataclass(frozen=True)
class BlindRow:
    """A machine that can't be seen, why, and for how long."""

    machine: Blind
    why: str
    gone_for: timedelta | None


def admin_context(choice: MonthChoice, visitor: Visitor, _fleet: FleetNow) -> dict[str, Any]:
    """Give what is seen and what is not, failing deliveries, then money in short; of one team money only."""
    month = month_of(choice.days, choice.teams, choice.before)
    blocks = currency_blocks(month.by_team, visitor.teams, f"{choice.month:%Y-%m}", visitor.house.currency)
    money = [{"block": one, "change": choice.change(month, one.currency)} for one in blocks]
    context: dict[str, Any] = {"blocks": money, "filters": [choice.month_filter, choice.team_filter(visitor)]}
    if not visitor.sees_all:
        return context
    blind = blind_now(SHOWN)
    lost, channels = trouble_since(visitor.now - LATELY)
    rows = [
        BlindRow(one, reason_sentence(one.reason), visitor.now - one.seen_at if one.seen_at else None)
        for one in blind.machines
    ]
    return context | {"blind": blind, "blind_rows": rows, "lost": lost, "channels": channels}
