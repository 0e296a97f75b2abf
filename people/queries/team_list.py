"""Teams as their settings show them: in the order of the tree, with how many people have a role there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from people.models import Team


@dataclass(frozen=True)
class TeamRow:
    """A team; ``depth`` counts the teams above it. ``origin``: file, telemetry or page."""

    id: int
    name: str
    parent_id: int | None
    parent: str
    cost_center: str
    origin: str
    people: int
    depth: int


def team_rows() -> list[TeamRow]:
    """Give every team, sub-teams below theirs."""
    able = Count("grants__user", filter=Q(grants__user__is_active=True), distinct=True)
    teams = list(Team.objects.annotate(people=able).order_by("name"))
    names = {team.pk: team.name for team in teams}
    below: dict[int | None, list[Any]] = {}
    for team in teams:
        below.setdefault(team.parent_id, []).append(team)
    rows: list[TeamRow] = []
    waiting = [(team, 0) for team in reversed(below.get(None, []))]
    while waiting:
        team, depth = waiting.pop()
        rows.append(
            TeamRow(
                team.pk, team.name, team.parent_id, names.get(team.parent_id or 0, ""), team.cost_center, _origin(team),
                int(team.people), depth,
            )
        )  # fmt: skip
        waiting += [(one, depth + 1) for one in reversed(below.get(team.pk, []))]
    return rows


def _origin(team: Team) -> str:
    if team.declared is not None:
        return "file"
    return "telemetry" if team.from_telemetry else "page"
