"""Which channels a message goes to: the first route that matches takes it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from alerts.domain.occurrence import TOLD


@dataclass(frozen=True)
class RouteRule:
    """A declared route. Empty ``teams`` or ``kinds`` match all; team names are compared in any case."""

    teams: frozenset[str]
    kinds: frozenset[str]
    channels: tuple[str, ...]
    fallback: tuple[str, ...] = ()

    def takes(self, kind: str, lineage: Iterable[str]) -> bool:
        """Say whether a message of ``kind`` for a team takes this route. ``lineage``: the team and its parents."""
        if self.kinds and kind not in self.kinds:
            return False
        if not self.kinds and kind not in TOLD:
            return False
        return not self.teams or not self.teams.isdisjoint(name.casefold() for name in lineage)


def route_rule(match: dict[str, list[str]], channels: Sequence[str], fallback: Sequence[str] = ()) -> RouteRule:
    """Build a rule from the declared form (``match: {teams, kinds}``)."""
    teams = frozenset(name.casefold() for name in match.get("teams") or ())
    return RouteRule(teams, frozenset(match.get("kinds") or ()), tuple(channels), tuple(fallback))


def first_match(routes: Sequence[RouteRule], kind: str, lineage: Sequence[str]) -> RouteRule | None:
    """Give the route that takes the message, or None: nobody asked to be told."""
    return next((route for route in routes if route.takes(kind, lineage)), None)
