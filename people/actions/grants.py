"""Give and take roles, switch people off and on. Who acts is an argument; what they may is read again inside."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.errors import BadInput, Refused
from people.actions.audit import record
from people.actions.authority import Authority, authority_of, keep_an_admin
from people.models import ApiToken, Invitation, RoleGrant, Team, User
from people.models.user import Role
from people.roles import Right

MANAGED = "fleet.yaml manages this person’s roles."


def roles_are_managed(user: User) -> bool:
    """Say whether fleet.yaml names the roles of this person: then it alone changes them."""
    return user.declared is not None and "roles" in user.declared


@transaction.atomic
def add_grant(*, now: datetime, by: User, email: str, role: str, team_id: int | None) -> bool:
    """Give a person a role; False when they have it already.

    Raises BadInput (unknown_person, unknown_role, unknown_team), Refused (not_permitted, managed_by_file,
    switched_off).
    """
    authority = authority_of(by)
    team = checked_team(role, team_id)
    authority.demand_grant(role, team_id)
    user = User.objects.select_for_update().filter(email=email.strip().lower()).first()
    if user is None:
        raise unknown_person(email)
    refuse_managed(user)
    if not user.is_active:
        raise Refused("switched_off", "This person is switched off.", hint="An admin can switch them on again first.")
    grant, is_new = RoleGrant.objects.get_or_create(user=user, role=role, team=team)
    if is_new:
        _tell(grant, action="grant_role", now=now, by=by)
    return is_new


@transaction.atomic
def remove_grant(*, now: datetime, by: User, grant_id: int) -> None:
    """Take a role away. Raises BadInput (unknown_grant), Refused (not_permitted, managed_by_file, last_admin)."""
    authority = authority_of(by)
    grant = RoleGrant.objects.select_related("user", "team").filter(pk=grant_id).first()
    if grant is None:
        raise BadInput("unknown_grant", "This role was taken away already.", hint="Load the page again.")
    authority.demand_grant(grant.role, grant.team_id)
    refuse_managed(grant.user)
    grant.delete()
    if grant.role == Role.ADMIN:
        keep_an_admin()
    _tell(grant, action="remove_role", now=now, by=by)


@transaction.atomic
def switch_off(*, now: datetime, by: User, user_id: int) -> None:
    """Bar a person's door: sessions, tokens and open invitations end at once. Roles stay, for when they come back.

    Raises BadInput (unknown_person), Refused (not_permitted, last_admin).
    """
    user = _managed_person(authority_of(by), user_id)
    if not user.is_active:
        return
    user.is_active = False
    user.sign_outs += 1
    user.save(update_fields=["is_active", "sign_outs"])
    if RoleGrant.objects.filter(user=user, role=Role.ADMIN, team=None).exists():
        keep_an_admin()
    tokens = ApiToken.objects.filter(owner=user, revoked_at=None).update(revoked_at=now)
    Invitation.objects.filter(email=user.email, accepted_at=None, revoked_at=None).update(revoked_at=now)
    record(
        now=now, by=by.email, action="switch_off", subject_kind="user", subject=user.email, revoked_tokens=tokens
    )  # fmt: skip


@transaction.atomic
def switch_on(*, now: datetime, by: User, user_id: int) -> None:
    """Open a person's door again. Raises BadInput (unknown_person), Refused (not_permitted)."""
    user = _managed_person(authority_of(by), user_id)
    if user.is_active:
        return
    user.is_active = True
    user.save(update_fields=["is_active"])
    record(now=now, by=by.email, action="switch_on", subject_kind="user", subject=user.email)


def _managed_person(authority: Authority, user_id: int) -> User:
    authority.demand(Right.MANAGE_PEOPLE)
    user = User.objects.select_for_update().filter(pk=user_id).first()
    if user is None:
        raise unknown_person("")
    return user


def checked_team(role: str, team_id: int | None) -> Team | None:
    """Give the team. Raises BadInput (unknown_role, unknown_team)."""
    if role not in Role.values:
        raise BadInput("unknown_role", f"There is no role {role!r}.", hint=f"Roles are {', '.join(Role.values)}.")
    if team_id is None:
        return None
    team = Team.objects.filter(pk=team_id).first()
    if team is None:
        raise BadInput("unknown_team", "There is no such team.", hint="Take one from the list.")
    return team


def unknown_person(email: str) -> BadInput:
    """Say that nobody is known by this address."""
    return BadInput("unknown_person", f"Nobody has the address {email!r}.", hint="Invite them.")


def refuse_managed(user: User) -> None:
    """Raise Refused (managed_by_file) for somebody whose roles fleet.yaml gives."""
    if roles_are_managed(user):
        raise Refused("managed_by_file", MANAGED, hint="Change people in the file and apply it again.")


def _tell(grant: RoleGrant, *, action: str, now: datetime, by: User) -> None:
    record(
        now=now, by=by.email, action=action, subject_kind="user", subject=grant.user.email, role=grant.role,
        team=grant.team.name if grant.team else None,
    )  # fmt: skip
