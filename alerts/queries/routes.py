"""Routes as pages show them."""

from __future__ import annotations

from typing import Any

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


def route_forms() -> list[dict[str, Any]]:
    """Give the routes in order as fleet.yaml has them."""
    return [
        {"match": row.match, "channels": row.channels, **({"fallback": row.fallback} if row.fallback else {})}
        for row in Route.objects.order_by("position")
    ]


def routes_are_declared() -> bool:
    """Say whether fleet.yaml gave the routes."""
    return Route.objects.exclude(declared=None).exists()
