"""Routes as pages show them."""

from __future__ import annotations

from alerts.models import Route


def route_mentions(team: str) -> list[str]:
    """Give the routes that name a team, as people find them in fleet.yaml."""
    wanted = team.casefold()
    rows = Route.objects.order_by("position").values_list("position", "match")
    return [
        f"routes: {position + 1}"
        for position, match in rows
        if wanted in {str(name).casefold() for name in match.get("teams") or ()}
    ]
