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
    return routes_as_they_are()[0]


def routes_as_they_are() -> tuple[list[dict[str, Any]], bool]:
    """Give the routes in order as fleet.yaml has them, and whether it gave them."""
    rows = list(Route.objects.order_by("position"))
    forms = [
        {"match": row.match, "channels": row.channels, **({"fallback": row.fallback} if row.fallback else {})}
        for row in rows
    ]
    return forms, any(row.declared is not None for row in rows)
