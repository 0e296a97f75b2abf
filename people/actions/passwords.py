"""Passwords: the first sign-in of a database that has none, and a new one for somebody who has lost theirs."""

from __future__ import annotations

from datetime import datetime

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction

from common.database import advisory_lock
from common.errors import BadInput
from people.actions.audit import SYSTEM, record
from people.models import RoleGrant, User
from people.models.user import Role


def make_first_login(*, now: datetime, email: str, password: str) -> bool:
    """Make an admin who signs in with ``password``, unless somebody can sign in already; tell whether it was made.

    Several starts at once wait for each other, so one password is made and shown.
    """
    with advisory_lock("first login", wait=True), transaction.atomic():
        return _make_first_login(now=now, email=email, password=password)


def _make_first_login(*, now: datetime, email: str, password: str) -> bool:
    can_sign_in = User.objects.exclude(password="").exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    if can_sign_in.filter(is_active=True).exists():
        return False
    user, _ = User.objects.get_or_create(email=email, defaults={"name": "Administrator"})
    user.set_password(password)
    user.save(update_fields=["password"])
    RoleGrant.objects.get_or_create(user=user, role=Role.ADMIN, team=None)
    record(now=now, by=SYSTEM, action="first_login", subject_kind="user", subject=email)
    return True


@transaction.atomic
def set_password(*, now: datetime, email: str, password: str, by: str) -> None:
    """Give a person a new password; sessions made with the old one end. Raises BadInput (unknown_person)."""
    user = User.objects.select_for_update().filter(email__iexact=email).first()
    if user is None:
        raise BadInput("unknown_person", f"Nobody has the address {email!r}.", hint="Look for it under people.")
    user.set_password(password)
    user.save(update_fields=["password"])
    record(now=now, by=by, action="set_password", subject_kind="user", subject=user.email)
