"""Reads of `people`: the organisation, the installation's clock, teams."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from django.contrib.postgres.expressions import ArraySubquery
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db.models import F, Subquery
from django.db.models.functions import Lower

from common.pages import Page, Slice
from common.periods import BEGINNING, iso
from people.models import (
    ApiToken,
    AuditEvent,
    Installation,
    Organization,
    PastCostCenter,
    PastMonthLength,
    RoleGrant,
    SavedView,
    Team,
    User,
)
from people.models.installation import ClockMode
from people.models.user import Role
from people.roles import Grant, visible_teams


def organization() -> Organization:
    """Give the organisation (made with defaults on first use)."""
    return Organization.objects.get_or_create(pk=1)[0]


def organization_zone() -> ZoneInfo:
    """Give the zone in which days and months are cut."""
    return ZoneInfo(organization().time_zone)


def month_lengths() -> list[tuple[datetime, Decimal]]:
    """Give how many hours a month counts for prices per month, and since when, oldest first."""
    past = list(PastMonthLength.objects.order_by("until").values_list("until", "hours"))
    starts = [BEGINNING, *(until for until, _ in past)]
    return list(zip(starts, [*(hours for _, hours in past), Decimal(organization().hours_per_month)], strict=True))


def cost_centers_change(after: datetime, before: datetime) -> list[datetime]:
    """Give when a team got another cost centre between two times."""
    changes = PastCostCenter.objects.filter(until__gt=after, until__lt=before)
    return list(changes.order_by("until").values_list("until", flat=True).distinct())


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
    granted: tuple[Grant, ...] = ()  # the grants of the person it was read for
    saved: tuple[tuple[str, str], ...] = ()  # this person's saved views: name, address

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which days and months are cut."""
        return ZoneInfo(self.time_zone)


def house(user: User | None = None) -> House:
    """Give the organisation and the installation's clock (both made on first use), with the grants of ``user``."""
    clock = Installation.objects.filter(pk=1)
    grants = (RoleGrant.objects.filter(user=user) if user else RoleGrant.objects.none()).order_by("pk")
    views = (SavedView.objects.filter(user=user) if user else SavedView.objects.none()).order_by(Lower("name"), "pk")
    found = Organization.objects.annotate(
        clock=Subquery(clock.values("clock")),
        world_at=Subquery(clock.values("world_at")),
        granted=ArraySubquery(grants.values("team_id")),
        roles=ArraySubquery(grants.values("role")),
        saved_names=ArraySubquery(views.values("name")),
        saved_paths=ArraySubquery(views.values("path")),
    ).filter(pk=1)
    row = found.first()
    if row is None or row.clock is None:
        organization()
        installation()
        row = found.get()
    is_replaying = row.clock == ClockMode.REPLAY
    granted = tuple(map(Grant, row.roles or (), row.granted or ()))
    saved = tuple(zip(row.saved_names or (), row.saved_paths or (), strict=True))
    return House(row.name, row.currency, row.time_zone, is_replaying, row.world_at, granted, saved)


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


def lineage(team_id: int, teams: Mapping[int, TeamName]) -> list[str]:
    """Give a team's name followed by its parents' names, up to the top; a circle of parents ends where it closes."""
    return [teams[pk].name for pk in _ancestry(team_id, teams)]


def visible_team_ids(user: User) -> frozenset[int] | None:
    """Give the teams whose data ``user`` may see (rule 9); None: all, and what is Unassigned."""
    granted = list(RoleGrant.objects.filter(user=user).values_list("team_id", flat=True))
    return visible_teams(granted, {team.id: team.parent_id for team in teams().values()})


def team_lineages(team_ids: Collection[int] | None = None) -> dict[int, tuple[str, ...]]:
    """Give each team's name followed by its parents' names, up to the top; None asks for all teams."""
    if team_ids is not None and not team_ids:
        return {}
    teams = {team.pk: team for team in Team.objects.only("name", "parent_id")}
    wanted = teams if team_ids is None else [pk for pk in team_ids if pk in teams]
    return {team_id: tuple(teams[pk].name for pk in _ancestry(team_id, teams)) for team_id in wanted}


def _ancestry(team_id: int, teams: Mapping[int, Team] | Mapping[int, TeamName]) -> list[int]:
    """Give the team and its parents; a circle of parents ends where it closes."""
    found: list[int] = []
    current: int | None = team_id
    while current is not None and current in teams and current not in found:
        found.append(current)
        current = teams[current].parent_id
    return found


def _is_address(text: str) -> bool:
    """Say whether ``text`` is an e-mail address; owners also come as user names, roles and numbers."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def recipients(readers: Collection[tuple[str, int | None]]) -> dict[tuple[str, int | None], list[str]]:
    """Give whom a message for each (owner's address or nothing, team) is for, as addresses.

    The owner, unless switched off; else the leads of the team or of the nearest parent that has some; else the admins.
    """
    switched_off = set(User.objects.filter(is_active=False).values_list("email", flat=True))
    leads: dict[int, list[str]] = {}
    admins: list[str] = []
    for grant in RoleGrant.objects.filter(user__is_active=True).select_related("user").order_by("user__email"):
        if grant.role == Role.TEAM_LEAD and grant.team_id is not None:
            leads.setdefault(grant.team_id, []).append(grant.user.email)
        elif grant.role == Role.ADMIN and grant.team_id is None:
            admins.append(grant.user.email)
    teams = {team.pk: team for team in Team.objects.only("name", "parent_id")}
    found: dict[tuple[str, int | None], list[str]] = {}
    for owner, team_id in readers:
        address = owner.strip().lower()
        if _is_address(address) and address not in switched_off:
            found[owner, team_id] = [address]
            continue
        ancestry = _ancestry(team_id, teams) if team_id is not None else []
        found[owner, team_id] = next((leads[pk] for pk in ancestry if pk in leads), admins)
    return found


def team_ids_by_name() -> dict[str, int]:
    """Give every team's row id by its casefolded name."""
    return {name.casefold(): pk for name, pk in Team.objects.values_list("name", "pk")}


def person_addresses() -> frozenset[str]:
    """Give the e-mail addresses of all people."""
    return frozenset(User.objects.values_list("email", flat=True))


def team_spellings(*, undeclared_only: bool = False) -> list[str]:
    """Give the names of all teams, or of those that no file has declared."""
    rows = Team.objects.filter(declared=None) if undeclared_only else Team.objects.all()
    return list(rows.values_list("name", flat=True))


def tokens_of(owner: User | None = None) -> list[ApiToken]:
    """Give all API tokens, or those of one person: the living ones first, then by their end."""
    rows = ApiToken.objects.select_related("owner", "team")
    if owner is not None:
        rows = rows.filter(owner=owner)
    return list(rows.order_by(F("revoked_at").asc(nulls_first=True), "-expires_at", "pk"))


def team_members() -> dict[str, list[int]]:
    """Give the teams of each person who has a role for one, by address and by what stands before its @, casefolded."""
    found: dict[str, list[int]] = {}
    rows = RoleGrant.objects.filter(user__is_active=True, team__isnull=False).order_by("team_id")
    for email, team_id in rows.values_list("user__email", "team_id"):
        for name in (email.casefold(), email.casefold().split("@", maxsplit=1)[0]):
            if team_id not in found.setdefault(name, []):
                found[name].append(team_id)
    return found


def roles_everywhere(user: User) -> frozenset[str]:
    """Give the roles that a person has without a team, so for the whole organisation."""
    return frozenset(RoleGrant.objects.filter(user=user, team=None).values_list("role", flat=True))


def audit_page(asked: Mapping[str, Any], part: Slice) -> Page:
    """Give events of the audit trail, newest first. ``asked``: action, subject_kind, subject, by, since, until."""
    rows = AuditEvent.objects.order_by("-pk")
    for name in ("action", "subject_kind", "subject", "by"):
        if asked.get(name):
            rows = rows.filter(**{name: asked[name]})
    if asked.get("since"):
        rows = rows.filter(at__gte=asked["since"])
    if asked.get("until"):
        rows = rows.filter(at__lt=asked["until"])
    if part.after is not None:
        rows = rows.filter(pk__lt=part.after)
    return part.page([(row.pk, _event(row)) for row in rows[: part.limit + 1]])


def _event(row: AuditEvent) -> dict[str, Any]:
    return {
        "id": row.pk,
        "at": iso(row.at),
        "by": row.by,
        "action": row.action,
        "subject": {"kind": row.subject_kind, "id": row.subject},
        "reason": row.reason,
        "details": row.details,
    }
