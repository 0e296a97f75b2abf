"""What a role may see: the one place that says so.

A grant for a team covers that team and its sub-teams. A grant without a team covers everything, Unassigned too. Without
any grant a person sees nothing, which is not an error: somebody has to say first which team they belong to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping


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
