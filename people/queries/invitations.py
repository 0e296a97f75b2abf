"""Invitations and their links.

A link's secret part is made from SECRET_KEY, so that the worker that sends the mail can write the link again, while
nobody who reads the database can.
"""

from __future__ import annotations

import re
from datetime import datetime

from django.utils.crypto import constant_time_compare, salted_hmac

from people.models import Invitation

_FORM = re.compile(r"([a-f0-9]{32})-([a-f0-9]{64})")


def find(token: str, *, now: datetime) -> Invitation | None:
    """Give the open invitation of a link; None when it is unknown, used, revoked or too old. Changes nothing."""
    form = _FORM.fullmatch(token)
    if form is None:
        return None
    found = Invitation.objects.select_related("team", "created_by").filter(prefix=form[1]).first()
    if found is None or not is_good(found, now=now):
        return None
    if not constant_time_compare(form[2], _secret(found)) or not constant_time_compare(found.digest, digest_of(found)):
        return None
    return found


def is_good(invitation: Invitation, *, now: datetime) -> bool:
    """Say whether an invitation can still be accepted."""
    return invitation.accepted_at is None and invitation.revoked_at is None and invitation.expires_at > now


def token_of(invitation: Invitation) -> str:
    """Write what stands in the link of an invitation."""
    return f"{invitation.prefix}-{_secret(invitation)}"


def path_of(invitation_id: int) -> tuple[str, str] | None:
    """Give the path of the present link of an open invitation, and who sent it; None when it is over."""
    rows = Invitation.objects.filter(pk=invitation_id, accepted_at=None, revoked_at=None)
    found = rows.select_related("created_by").first()
    if found is None:
        return None
    return f"/invitations/{token_of(found)}/", found.created_by.name or found.created_by.email


def _secret(invitation: Invitation) -> str:
    value = f"{invitation.prefix}.{invitation.links}.{invitation.email}"
    return salted_hmac("people.Invitation.secret", value, algorithm="sha256").hexdigest()


def digest_of(invitation: Invitation) -> str:
    """Give what is kept of an invitation's link."""
    return salted_hmac("people.Invitation.digest", _secret(invitation), algorithm="sha256").hexdigest()
