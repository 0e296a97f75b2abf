"""What a role may see: the one place that says so.

A grant for a team covers that team and its sub-teams. A grant without a team covers everything, Unassigned too. Without
any grant a person sees nothing, which is not an error: somebody has to say first which team they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


def with_sub_teams(roots: Iterable[int], parents: Mapping[int, int | None]) -> frozenset[int]:
    """Give ``roots`` and all teams below them. ``parents``: team id -> id of the team above it, or None."""
    covered = {team for team in roots if team in parents}
    growing = True
    while growing:
        below = {team for team, parent in parents.items() if parent in covered} - covered
        covered |= below
        growing = bool(below)
    return frozenset(covered)


def visible_teams(granted: Iterable[int | None], parents: Mapping[int, int | None]) -> frozenset[int] | None:
    """Give the ids of the teams that these grants show; None means all of them and Unassigned.

    ``granted``: the team of each grant, None for a grant without a team.
    """
    teams = list(granted)
    if None in teams:
        return None
    return with_sub_teams((team for team in teams if team is not None), parents)


@dataclass(frozen=True)
class TeamChoice:
    """Which rows a page may count: ``team_ids`` None for every team; ``unassigned``: rows without a team too."""

    team_ids: frozenset[int] | None
    unassigned: bool

    def condition(self, column: str) -> tuple[str, list[Any]]:
        """Give the SQL condition on a team column, with its parameters."""
        if self.team_ids is None:
            return ("TRUE" if self.unassigned else f"{column} IS NOT NULL"), []
        chosen = f"{column} = ANY(%s)"
        return (f"({chosen} OR {column} IS NULL)" if self.unassigned else chosen), [sorted(self.team_ids)]

    def covers(self, team_id: int | None) -> bool:
        """Say whether a thing of this team (None: without a team) may be shown."""
        if team_id is None:
            return self.unassigned
        return self.team_ids is None or team_id in self.team_ids


READS_AUDIT = frozenset({"admin", "finance"})  # granted without a team: acts of all teams stand in the trail
