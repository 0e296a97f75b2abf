"""Sub-teams folded into the teams above them: every amount once, in the topmost team that may be seen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from billing.domain.month_spend import MonthSpend
from billing.queries.idle_by_team import IdleSum
from people.queries import TeamName

AddsT = TypeVar("AddsT", MonthSpend, IdleSum)


def root_of(team_id: int, teams: Mapping[int, TeamName]) -> int:
    """Give the topmost of ``teams`` above a team; a circle of parents ends where it closes."""
    seen = {team_id}
    while True:
        parent = teams[team_id].parent_id if team_id in teams else None
        if parent is None or parent not in teams or parent in seen:
            return team_id
        seen.add(parent)
        team_id = parent


def roots(teams: Mapping[int, TeamName], *, below: int | None = None) -> dict[int, int]:
    """Give team -> the team that it is folded into: the topmost one, or, ``below`` a team, one of its children.

    Below a team, that team itself stands by itself, and teams elsewhere are absent.
    """
    if below is None:
        return {pk: root_of(pk, teams) for pk in teams}
    inside = {pk: team for pk, team in teams.items() if pk != below}
    found = {pk: root_of(pk, inside) for pk in inside}
    return {below: below} | {pk: root for pk, root in found.items() if teams[root].parent_id == below}


def folded(
    parts: Mapping[tuple[str, int | None], AddsT], into: Mapping[int, int]
) -> dict[tuple[str, int | None], AddsT]:
    """Add (currency, team) -> amount up by the teams they fold ``into``; Unassigned (None) stays apart."""
    found: dict[tuple[str, int | None], AddsT] = {}
    for (currency, team), one in parts.items():
        key = (currency, None if team is None else into.get(team, team))
        found[key] = found[key] + one if key in found else one
    return found
