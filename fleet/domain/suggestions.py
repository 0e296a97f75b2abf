"""Whose might it be? What is known of a thing that no rule gives to a team, and which team that points to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

STRONG = frozenset({"tag", "namespace", "jobs", "owner"})
"""Facts that name a team or one of its people; a likeness of names says less."""
SHORTEST_NAME = 3  # of a team, to be recognised in a host's name


@dataclass(frozen=True)
class Clues:
    """What points to a team.

    ``jobs``: teams of the jobs that run on it; ``owner_teams``: of its owner; ``neighbours``: team -> how many machines
    of the same name but for the number at its end.
    """

    host: str = ""
    namespace: str = ""
    owner: str = ""
    tags: Mapping[str, Any] = field(default_factory=dict)
    jobs: Sequence[int] = ()
    owner_teams: Sequence[int] = ()
    neighbours: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Suggestion:
    """A team (row id), the ``kind`` of fact that points to it, and the fact itself."""

    team_id: int
    kind: str
    fact: str

    @property
    def is_strong(self) -> bool:
        """Whether the fact names the team or one of its people."""
        return self.kind in STRONG


def suggest(clues: Clues, teams: Mapping[str, int]) -> list[Suggestion]:
    """Give suggestions, the best first, each team once. ``teams``: casefolded name -> row id."""
    found: dict[int, Suggestion] = {}
    for one in _all(clues, teams):
        found.setdefault(one.team_id, one)
    return list(found.values())


def stem(name: str) -> str:
    """Give a machine's name without the number at the end of its first part: machines of one kind share it."""
    return re.sub(r"\d+$", "", name.split(".", maxsplit=1)[0].casefold())


def _all(clues: Clues, teams: Mapping[str, int]) -> Iterator[Suggestion]:
    for name, value in clues.tags.items():
        team = teams.get(str(value).strip().casefold())
        if team is not None:
            yield Suggestion(team, "tag", f"{name}={value}")
    if set(clues.jobs):
        yield from (Suggestion(team, "jobs", "") for team in dict.fromkeys(clues.jobs))
    if clues.namespace.casefold() in teams:
        yield Suggestion(teams[clues.namespace.casefold()], "namespace", clues.namespace)
    yield from (Suggestion(team, "owner", clues.owner) for team in dict.fromkeys(clues.owner_teams))
    parts = set(re.split(r"[^a-z0-9]+", clues.host.casefold()))
    for name, team in teams.items():
        if len(name) >= SHORTEST_NAME and (name in parts or stem(clues.host).startswith(f"{name}-")):
            yield Suggestion(team, "host", clues.host)
    for team, count in sorted(clues.neighbours.items(), key=lambda one: (-one[1], one[0])):
        yield Suggestion(team, "neighbours", str(count))
