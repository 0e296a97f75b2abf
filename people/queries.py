"""Reads of `people`: the organisation, the installation's clock, teams."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from django.db.models import Subquery

from people.models import Installation, Organization, RoleGrant, Team, User
from people.models.installation import ClockMode
from people.roles import visible_teams


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


@dataclass(frozen=True)
class House:
    """What every page needs of organisation and installation, in one read."""

    name: str
    currency: str
    time_zone: str
    is_replaying: bool
    world_at: datetime | None

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which days and months are cut."""
        return ZoneInfo(self.time_zone)


def house() -> House:
    """Give the organisation and the installation's clock (both made on first use)."""
    clock = Installation.objects.filter(pk=1)
    found = Organization.objects.annotate(
        clock=Subquery(clock.values("clock")), world_at=Subquery(clock.values("world_at"))
    ).filter(pk=1)
    row = found.first()
    if row is None or row.clock is None:
        organization()
        installation()
        row = found.get()
    return House(row.name, row.currency, row.time_zone, row.clock == ClockMode.REPLAY, row.world_at)


@dataclass(frozen=True)
class TeamName:
    """A team as pages show it."""

    id: int
    name: str
    parent_id: int | None
    cost_center: str


def teams() -> dict[int, TeamName]:
    """Give all teams by id, in the order of their names."""
    rows = Team.objects.order_by("name").values_list("id", "name", "parent_id", "cost_center")
    return {row[0]: TeamName(*row) for row in rows}


def visible_team_ids(user: User, known: Mapping[int, TeamName] | None = None) -> frozenset[int] | None:
    """Give the teams whose data ``user`` may see (rule 9); None: all, and what is Unassigned. ``known``: all teams."""
    granted = list(RoleGrant.objects.filter(user=user).values_list("team_id", flat=True))
    every = teams() if known is None else known
    return visible_teams(granted, {team.id: team.parent_id for team in every.values()})
