"""What idle machines cost an hour right now, by team."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from fleet.domain.ports import PriceLookup
from fleet.queries.machines_now import idle_teams
from people.roles import TeamChoice


@dataclass(frozen=True)
class IdleSum:
    """``per_hour``: currency -> money an hour of ``machines`` idle ones, of which ``unpriced`` have no price."""

    per_hour: Mapping[str, Decimal]
    machines: int
    unpriced: int

    def __add__(self, other: IdleSum) -> IdleSum:
        """Add two; currencies stay apart."""
        keys = {*self.per_hour, *other.per_hour}
        per_hour = {key: self.per_hour.get(key, Decimal(0)) + other.per_hour.get(key, Decimal(0)) for key in keys}
        return IdleSum(per_hour, self.machines + other.machines, self.unpriced + other.unpriced)


def idle_by_team(choice: TeamChoice, prices: PriceLookup, at: datetime) -> dict[int | None, IdleSum]:
    """Give the idle machines of each team (None: Unassigned); a team without any is absent."""
    teams = idle_teams(choice)
    known = prices.prices([pk for ids in teams.values() for pk in ids], at)
    found = {}
    for team, ids in teams.items():
        per_hour: dict[str, Decimal] = {}
        for pk in ids:
            if pk in known:
                price = known[pk]
                per_hour[price.currency] = per_hour.get(price.currency, Decimal(0)) + price.per_hour
        found[team] = IdleSum(per_hour, len(ids), sum(pk not in known for pk in ids))
    return found
