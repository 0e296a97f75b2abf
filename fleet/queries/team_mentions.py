"""Where policies and sources name a team: a rename has to be made there first."""

from __future__ import annotations

from fleet.models import Policy, Source


def team_mentions(name: str) -> list[str]:
    """Give the places that name a team, as people find them in fleet.yaml."""
    wanted = name.casefold()
    found = []
    for policy, spec in Policy.objects.values_list("name", "spec"):
        named = [team for key in ("select", "exclude") for team in (spec.get(key) or {}).get("teams") or ()]
        if wanted in {str(team).casefold() for team in named}:
            found.append(f"policies: {policy}")
    for source, spec in Source.objects.values_list("name", "spec"):
        if wanted in {str(team).casefold() for team in (spec.get("covers") or {}).get("teams") or ()}:
            found.append(f"sources: {source}")
    return found
