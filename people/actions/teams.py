"""Declare teams, and make those that telemetry names while nobody has declared any."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any

from django.db.models import ProtectedError

from common.declared import Change, Spec, declare_rows, settle_leftovers
from common.errors import Refused
from people.actions.past import keep_cost_center
from people.models import Team


def declare_teams(wanted: Sequence[Spec], *, now: datetime) -> list[Change]:
    """Create and change teams, parents before their children; names are the same in any case.

    A first declaration holds always; another cost centre counts from ``now`` on.
    """
    by_fold = {team.name.casefold(): team for team in Team.objects.select_related("parent")}
    rows = {spec["name"]: by_fold[spec["name"].casefold()] for spec in wanted if spec["name"].casefold() in by_fold}

    def make(name: str) -> Team:
        team = by_fold[name.casefold()] = Team(name=name)
        return team

    def fill(team: Team, spec: Spec) -> None:
        team.name = spec["name"]
        cost_center = spec.get("cost_center") or ""
        if team.declared is not None and team.cost_center != cost_center:
            keep_cost_center(team, team.cost_center, until=now)
        team.cost_center = cost_center
        team.parent = by_fold[spec["parent"].casefold()] if spec.get("parent") else None
        team.from_telemetry = False

    changes = declare_rows("team", rows, _parents_first(wanted), make=make, fill=fill, current=_current)
    order = {spec["name"]: number for number, spec in enumerate(wanted)}
    return sorted(changes, key=lambda change: order[change.name])


def settle_teams(names: Iterable[str], *, prune: bool) -> list[Change]:
    """Remove or report teams that the file no longer names; children go before their parents."""
    keep = {name.casefold() for name in names}
    teams = sorted(
        Team.objects.all(), key=lambda team: -_depth(team.pk, {one.pk: one.parent_id for one in Team.objects.all()})
    )
    rows = {team.name: team for team in teams}
    return settle_leftovers(
        "team", rows, [name for name in rows if name.casefold() in keep], prune=prune, remove=delete_team
    )


def ensure_teams(names: Collection[str]) -> int:
    """Make the teams of ``names`` that are not there in any case, as telemetry names them; give how many were made."""
    there = {name.casefold() for name in Team.objects.values_list("name", flat=True)}
    new = {name.casefold(): name for name in sorted(names) if name and name.casefold() not in there}
    Team.objects.bulk_create(
        [Team(name=name[:120], from_telemetry=True) for name in new.values()], ignore_conflicts=True
    )
    return len(new)


def _current(team: Team) -> dict[str, Any]:
    """Give a team's form as it is now."""
    return {
        "name": team.name,
        "parent": team.parent.name if team.parent else None,
        "cost_center": team.cost_center or None,
    }


def _parents_first(wanted: Sequence[Spec]) -> list[tuple[str, Spec]]:
    """Order teams so that a parent stands before its children (cycles were refused before)."""
    by_fold = {spec["name"].casefold(): spec for spec in wanted}

    def depth(spec: Spec) -> int:
        parent = by_fold.get((spec.get("parent") or "").casefold())
        return 1 + depth(parent) if parent else 0

    return [(spec["name"], spec) for spec in sorted(wanted, key=depth)]


def _depth(pk: int, parents: dict[int, int | None]) -> int:
    """Count the teams above one."""
    count, parent = 0, parents[pk]
    while parent is not None and count <= len(parents):
        count, parent = count + 1, parents[parent]
    return count


def delete_team(team: Team) -> None:
    """Delete a team that nothing refers to. Raises Refused (still_referenced)."""
    try:
        team.delete()
    except ProtectedError as error:
        kinds = sorted({str(one._meta.verbose_name) for one in error.protected_objects})
        message = f"The team {team.name} can't be removed: {', '.join(kinds)} refer to it."
        raise Refused("still_referenced", message, hint="Keep it in the file; its past stays with it.") from None
