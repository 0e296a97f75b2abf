"""Invite people by e-mail. A link is signed, good once and for a week, and of its secret only a digest is kept."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.password_validation import (
    CommonPasswordValidator,
    UserAttributeSimilarityValidator,
    validate_password,
)
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import QuerySet

from common.database import take_lock
from common.errors import BadInput, Refused
from common.periods import iso
from people.actions.audit import record
from people.actions.authority import GRANTS_LOCK, Authority, authority_of
from people.actions.grants import checked_team, roles_are_managed
from people.models import Invitation, RoleGrant, User
from people.queries.invitations import digest_of, find, is_good, token_of
from people.roles import Right

GOOD_FOR = timedelta(days=7)
SHORTEST_PASSWORD = 12
VALIDATORS: Any = [CommonPasswordValidator(), UserAttributeSimilarityValidator(("email", "name"))]


@dataclass(frozen=True)
class Invited:
    """An invitation and its link's token, which is shown once or mailed."""

    invitation: Invitation
    token: str


@transaction.atomic
def invite(*, now: datetime, by: User, email: str, role: str, team_id: int | None) -> Invited:
    """Invite a person who can't sign in yet. ``role`` "": fleet.yaml says which roles they have.

    Raises BadInput (bad_email, unknown_role, unknown_team), Refused (not_permitted, can_sign_in, switched_off,
    managed_by_file, already_invited).
    """
    authority = authority_of(by)
    address = _address(email)
    user = User.objects.filter(email=address).first()
    is_managed = user is not None and roles_are_managed(user)
    if is_managed:
        authority.demand(Right.MANAGE_PEOPLE)
        role, team = "", None
    else:
        team = checked_team(role, team_id)
        authority.demand_grant(role, team_id)
    _refuse_known(user)
    if _open(address).filter(expires_at__gt=now).exists():
        raise Refused("already_invited", f"{address} is invited already.", hint="Send that invitation again.")
    _open(address).update(revoked_at=now)  # what has run out makes room
    invitation = Invitation(
        email=address, role=role, team=team, prefix=secrets.token_hex(16), created_at=now, created_by=by, sent_at=now,
        expires_at=now + GOOD_FOR,
    )  # fmt: skip
    invitation.digest = digest_of(invitation)
    invitation.save()
    _tell(now, by.email, "invite", invitation)
    return Invited(invitation, token_of(invitation))


@transaction.atomic
def resend(*, now: datetime, by: User, invitation_id: int) -> Invited:
    """Make another link for an invitation; the one before is good for nothing. Raises as `revoke`."""
    invitation = _own(authority_of(by), invitation_id)
    _refuse_known(User.objects.filter(email=invitation.email).first())
    invitation.links += 1
    invitation.digest = digest_of(invitation)
    invitation.sent_at, invitation.expires_at = now, now + GOOD_FOR
    invitation.save(update_fields=["links", "digest", "sent_at", "expires_at"])
    _tell(now, by.email, "resend_invitation", invitation)
    return Invited(invitation, token_of(invitation))


@transaction.atomic
def revoke(*, now: datetime, by: User, invitation_id: int) -> None:
    """End an invitation. Raises BadInput (unknown_invitation), Refused (not_permitted)."""
    invitation = _own(authority_of(by), invitation_id)
    invitation.revoked_at = now
    invitation.save(update_fields=["revoked_at"])
    _tell(now, by.email, "revoke_invitation", invitation)


@transaction.atomic
def accept(*, now: datetime, token: str, name: str, password: str) -> User:
    """Let the invited person in: name, password and role, once.

    Raises BadInput (bad_invitation, bad_name, weak_password), Refused (switched_off, inviter_lost_right).
    """
    take_lock(GRANTS_LOCK)
    found = find(token, now=now)
    invitation = found and Invitation.objects.select_for_update().filter(pk=found.pk).first()
    if invitation is None or not is_good(invitation, now=now):
        raise bad_invitation()
    user = User.objects.select_for_update().filter(email=invitation.email).first() or User(email=invitation.email)
    if not user.is_active:
        raise Refused("switched_off", "This address is switched off.", hint="Ask an admin to switch it on again.")
    if user.has_usable_password() and user.pk:
        raise bad_invitation()
    _check_inviter(invitation)
    user.name = _name(name)
    _check_password(password, user)
    user.set_password(password)
    user.save()
    if invitation.role and not roles_are_managed(user):
        RoleGrant.objects.get_or_create(user=user, role=invitation.role, team=invitation.team)
    invitation.accepted_at = now
    invitation.save(update_fields=["accepted_at"])
    _tell(now, user.email, "accept_invitation", invitation)
    return user


def bad_invitation() -> BadInput:
    """Say one thing of every link that does not work: nothing is told of those there are."""
    return BadInput(
        "bad_invitation", "This link is unknown, was used already, or has run out.", hint="Ask for a new invitation."
    )


def _open(address: str) -> QuerySet[Invitation]:
    return Invitation.objects.filter(email=address, accepted_at=None, revoked_at=None)


def _own(authority: Authority, invitation_id: int) -> Invitation:
    """Find an open invitation that ``authority`` may give; another's is as unknown as one that does not exist."""
    rows = Invitation.objects.select_for_update(of=("self",)).select_related("team")
    invitation = rows.filter(pk=invitation_id, accepted_at=None, revoked_at=None).first()
    if invitation is None:
        raise BadInput("unknown_invitation", "This invitation is over already.", hint="Load the page again.")
    if invitation.role:
        authority.demand_grant(invitation.role, invitation.team_id)
    else:
        authority.demand(Right.MANAGE_PEOPLE)
    return invitation


def _check_inviter(invitation: Invitation) -> None:
    """The promise is as good as the right of who made it: a lead who left can't let people in any more."""
    try:
        authority = authority_of(invitation.created_by)
        if invitation.role:
            authority.demand_grant(invitation.role, invitation.team_id)
        else:
            authority.demand(Right.MANAGE_PEOPLE)
    except Refused:
        raise Refused(
            "inviter_lost_right", "The person who invited you may not do so any more.", hint="Ask an admin."
        ) from None


def _refuse_known(user: User | None) -> None:
    if user is None:
        return
    if not user.is_active:
        raise Refused("switched_off", "This person is switched off.", hint="An admin can switch them on again first.")
    if user.has_usable_password():
        raise Refused("can_sign_in", "This person can sign in already.", hint="Give them the role instead.")


def _address(email: str) -> str:
    address = email.strip().lower()
    try:
        validate_email(address)
    except ValidationError:
        raise BadInput("bad_email", f"{email!r} is no e-mail address.", hint="Write name@example.com.") from None
    return address


def _name(name: str) -> str:
    text = name.strip()
    if not text or len(text) > 200 or not text.isprintable():
        raise BadInput("bad_name", "A name has 1 to 200 characters.", hint="Write your name.")
    return text


def _check_password(password: str, user: User) -> None:
    """Long is what makes it strong; what resembles the address or is known to all is refused as well."""
    problem = ""
    if len(password) < SHORTEST_PASSWORD:
        problem = f"The password is shorter than {SHORTEST_PASSWORD} characters."
    elif len(set(password)) < 5 or password.isdigit():
        problem = "The password is easy to guess."
    else:
        try:
            validate_password(password, user, VALIDATORS)
        except ValidationError:
            problem = "The password is easy to guess."
    if problem:
        raise BadInput("weak_password", problem, hint="Take three or four words that do not belong together.")


def _tell(now: datetime, by: str, action: str, invitation: Invitation) -> None:
    record(
        now=now, by=by, action=action, subject_kind="invitation", subject=invitation.email,
        role=invitation.role or None, team=invitation.team.name if invitation.team else None,
        expires_at=iso(invitation.expires_at),
    )  # fmt: skip
