"""People with their roles, and open invitations, as far as the visitor may see them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef

from people.models import AuditEvent, Invitation, RoleGrant, User


@dataclass(frozen=True)
class GrantRow:
    """One role of a person; ``team`` "" for everywhere."""

    id: int
    role: str
    team_id: int | None
    team: str


@dataclass(frozen=True)
class PersonRow:
    """A person; ``grants`` are those that may be shown.

    ``is_managed``: fleet.yaml names them; ``has_managed_roles``: and their roles.
    """

    id: int
    email: str
    name: str
    is_active: bool
    can_sign_in: bool
    last_login: datetime | None
    is_managed: bool
    has_managed_roles: bool
    grants: tuple[GrantRow, ...]


@dataclass(frozen=True)
class InvitationRow:
    """An invitation that was not accepted; ``role`` "": fleet.yaml says which."""

    id: int
    email: str
    role: str
    team: str
    team_id: int | None
    sent_at: datetime
    expires_at: datetime
    created_by: str


def people_of(scope: Collection[int] | None) -> list[PersonRow]:
    """Give the people by name: all of them (None), or those with a role for a team of ``scope``, with these roles."""
    grants = RoleGrant.objects.select_related("team").order_by("role", "team__name")
    users = User.objects.order_by(F("is_active").desc(), "email")
    if scope is not None:
        grants = grants.filter(team_id__in=scope)
        users = users.filter(Exists(RoleGrant.objects.filter(user=OuterRef("pk"), team_id__in=scope)))
    of: dict[int, list[GrantRow]] = {}
    for grant in grants:
        row = GrantRow(grant.pk, grant.role, grant.team_id, grant.team.name if grant.team else "")
        of.setdefault(grant.user_id, []).append(row)
    return [_person(user, tuple(of.get(user.pk, ()))) for user in users]


def _person(user: User, grants: tuple[GrantRow, ...]) -> PersonRow:
    return PersonRow(
        id=user.pk,
        email=user.email,
        name=user.name,
        is_active=user.is_active,
        can_sign_in=user.has_usable_password() and bool(user.password),
        last_login=user.last_login,
        is_managed=user.declared is not None,
        has_managed_roles=user.declared is not None and "roles" in user.declared,
        grants=grants,
    )


def open_invitations(scope: Collection[int] | None) -> list[InvitationRow]:
    """Give the invitations that nobody accepted yet, newest first; those that have run out too."""
    rows = Invitation.objects.filter(accepted_at=None, revoked_at=None).select_related("team", "created_by")
    if scope is not None:
        rows = rows.filter(team_id__in=scope)
    return [
        InvitationRow(
            row.pk, row.email, row.role, row.team.name if row.team else "", row.team_id, row.sent_at, row.expires_at,
            row.created_by.email,
        )
        for row in rows.order_by("-sent_at", "-pk")
    ]  # fmt: skip


def can_sign_in(email: str) -> bool:
    """Say whether an active person of this address has a password."""
    user = User.objects.filter(email=email.strip().lower(), is_active=True).first()
    return user is not None and bool(user.password) and user.has_usable_password()


def count_people() -> tuple[int, int]:
    """Give how many active people can sign in, and how many invitations are open."""
    users = User.objects.filter(is_active=True).exclude(password="")
    able = sum(user.has_usable_password() for user in users.only("password"))
    return able, Invitation.objects.filter(accepted_at=None, revoked_at=None).count()


def last_applied() -> tuple[str, datetime] | None:
    """Give the name of the file that was applied last, and when; None: none was."""
    found = AuditEvent.objects.filter(action="apply").order_by("-pk").values_list("subject", "at").first()
    return (str(found[0]), found[1]) if found else None
