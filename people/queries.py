"""Reads of `people`: the organisation, the installation's clock, teams."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from zoneinfo import ZoneInfo

from people.models import Installation, Organization, RoleGrant, Team, User
from people.models.installation import ClockMode
from people.models.user import Role


def organization() -> Organization:
    """Give the organisation (made with defaults on first use)."""
    return Organization.objects.get_or_create(pk=1)[0]


def organization_zone() -> ZoneInfo:
    """Give the zone in which days and months are cut."""
    return ZoneInfo(organization().time_zone)


def installation() -> Installation:
    """Give this installation (made on first use)."""
    return Installation.objects.get_or_create(pk=1)[0]


def is_replaying() -> bool:
    """Say whether the database follows replayed time: beat's jobs sleep, pages say so."""
    return installation().clock == ClockMode.REPLAY


def write_time(at: datetime | None, *, clock: datetime) -> datetime:
    """Give the `now` of a writing command: --at, else the world's time under replay, else the real ``clock``."""
    row = installation()
    if at is not None:
        return at
    if row.clock == ClockMode.REPLAY and row.world_at:
        return row.world_at
    return clock


def team_lineages(team_ids: Collection[int]) -> dict[int, tuple[str, ...]]:
    """Give each team's name followed by its parents' names, up to the top."""
    if not team_ids:
        return {}
    teams = {team.pk: team for team in Team.objects.only("name", "parent_id")}
    return {
        team_id: tuple(teams[pk].name for pk in _ancestry(team_id, teams)) for team_id in team_ids if team_id in teams
    }


def _ancestry(team_id: int, teams: dict[int, Team]) -> list[int]:
    """Give the team and its parents; a circle of parents ends where it closes."""
    found: list[int] = []
    current: int | None = team_id
    while current is not None and current in teams and current not in found:
        found.append(current)
        current = teams[current].parent_id
    return found


def recipients(readers: Collection[tuple[str, int | None]]) -> dict[tuple[str, int | None], list[str]]:
    """Give whom a message for each (owner's address or nothing, team) is for, as addresses.

    The owner, unless switched off; else the leads of the team or of the nearest parent that has some; else the admins.
    """
    switched_off = set(User.objects.filter(is_active=False).values_list("email", flat=True))
    leads: dict[int, list[str]] = {}
    admins: list[str] = []
    grants = RoleGrant.objects.filter(user__is_active=True, role__in=(Role.TEAM_LEAD, Role.ADMIN))
    for role, team_id, email in grants.order_by("user__email").values_list("role", "team_id", "user__email"):
        if role == Role.TEAM_LEAD and team_id is not None:
            leads.setdefault(team_id, []).append(email)
        elif role == Role.ADMIN and team_id is None:
            admins.append(email)
    teams = {team.pk: team for team in Team.objects.only("name", "parent_id")}
    found = {}
    for owner, team_id in readers:
        address = owner.strip().lower()
        if "@" in address and address not in switched_off:
            found[owner, team_id] = [address]
            continue
        ancestry = _ancestry(team_id, teams) if team_id is not None else []
        found[owner, team_id] = next((leads[pk] for pk in ancestry if pk in leads), admins)
    return found
