"""The rows of the queue of what has no team that somebody may see, for its page and the API."""

from __future__ import annotations

from billing.queries.prices_now import PricesNow
from billing.queries.unassigned import unassigned_costs
from billing.tables.unassigned_lines import QueueLine, queue_lines
from common.periods import local_day
from fleet.queries.unassigned import LATELY, rules_now, unclaimed
from people.queries import TeamName, team_members
from people.roles import Right, scope_of
from people.visitor import Visitor


def queue(visitor: Visitor) -> list[QueueLine]:
    """Give the rows that a visitor may see.

    Who sees the whole organisation sees all. Who may claim for a team sees what names that team or one of its people,
    and nothing else of what is unassigned.
    """
    things = unclaimed(visitor.now, team_members())
    since = local_day(visitor.now - LATELY, visitor.house.zone)
    prices = PricesNow().prices(list({one.instance_id for one in things}), visitor.now)
    home = visitor.house.currency
    rules = rules_now(visitor.now)
    rows = queue_lines(
        things,
        costs=unassigned_costs(since),
        prices=prices,
        rules=rules,
        teams=visitor.teams,
        now=visitor.now,
        home=home,
    )
    if visitor.sees_all:
        return rows
    mine = {team.id for team in claimable(visitor)}
    return [row for row in rows if any(one.is_strong and one.team_id in mine for one in row.suggestions)]


def claimable(visitor: Visitor) -> list[TeamName]:
    """Give the teams for which a visitor may claim."""
    scope = scope_of(Right.CLAIM, visitor.house.granted, visitor.parents)
    return [team for team in visitor.teams.values() if scope is None or team.id in scope]
