"""Make, find and revoke API tokens. The secret is told once; what is kept of it is a digest keyed with SECRET_KEY."""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.crypto import constant_time_compare, salted_hmac

from common.errors import BadInput
from common.periods import floor_hour, iso
from people.actions.audit import record
from people.models import ApiToken, Team, User
from people.models.token import Scope
from people.queries import visible_team_ids

LONGEST = timedelta(days=365)
_FORM = re.compile(r"fl_([a-z0-9]{10})_([A-Za-z0-9_-]{43})")
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


@dataclass(frozen=True)
class NewToken:
    """A token just made; ``secret`` is what a program sends, shown this once."""

    token: ApiToken
    secret: str


def create_token(
    *, now: datetime, by: str, owner: str, name: str, days: int, team: str = "", scopes: tuple[str, ...] = (Scope.READ,)
) -> NewToken:
    """Make a token for the person ``owner`` (e-mail), good for ``days``, of one ``team`` or of all that they see.

    Raises BadInput: unknown_person, bad_token_name, bad_expiry, bad_scope, unknown_team (also for one they can't see).
    """
    user = User.objects.filter(email=owner.strip().lower(), is_active=True).first()
    if user is None:
        raise BadInput("unknown_person", f"Nobody active is known as {owner!r}.", hint="People stand in fleet.yaml.")
    label = name.strip()
    if not label or len(label) > 120 or not label.isprintable():
        raise BadInput("bad_token_name", "A token needs a name of 1 to 120 characters.", hint="Say what uses it.")
    if not 1 <= days <= LONGEST.days:
        raise BadInput("bad_expiry", f"{days} days is no life of a token.", hint=f"Give 1 to {LONGEST.days} days.")
    unknown = sorted(set(scopes) - set(Scope.values))
    if unknown or not scopes:
        raise BadInput("bad_scope", f"There is no scope {', '.join(unknown)!r}.", hint="There are: read.")
    narrowed = _team_for(user, team)
    prefix = "".join(secrets.choice(_LETTERS) for _ in range(10))
    secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        token = ApiToken.objects.create(
            prefix=prefix, digest=_digest(prefix, secret), name=label, scopes=sorted(set(scopes)), owner=user,
            team=narrowed, created_at=now, created_by=by, expires_at=now + timedelta(days=days),
        )  # fmt: skip
        record(
            now=now, by=by, action="create_token", subject_kind="token", subject=prefix, owner=user.email, name=label,
            team=narrowed.name if narrowed else None, scopes=token.scopes, expires_at=iso(token.expires_at),
        )  # fmt: skip
    return NewToken(token, f"fl_{prefix}_{secret}")


def _team_for(user: User, name: str) -> Team | None:
    """Find the team; one that the person can't see is as unknown as one that does not exist."""
    if not name:
        return None
    team = Team.objects.filter(name__iexact=name.strip()).first()
    visible = visible_team_ids(user)
    if team is None or (visible is not None and team.pk not in visible):
        raise BadInput(
            "unknown_team", f"There is no team {name!r}.", hint="Take one of the teams that this person sees."
        )
    return team


def revoke_token(*, now: datetime, by: str, prefix: str, owner: User | None = None) -> ApiToken:
    """End a token now; once more changes nothing. ``owner``: only one of this person's. Raises unknown_token."""
    found = ApiToken.objects.filter(prefix=prefix.strip().removeprefix("fl_").partition("_")[0])
    if owner is not None:
        found = found.filter(owner=owner)
    with transaction.atomic():
        token = found.select_for_update().first()
        if token is None:
            raise BadInput(
                "unknown_token", f"There is no token {prefix!r}.", hint="`token list` shows those there are."
            )
        if token.revoked_at is None:
            token.revoked_at = now
            token.save(update_fields=["revoked_at"])
            record(now=now, by=by, action="revoke_token", subject_kind="token", subject=token.prefix)
    return token


def token_for(text: str, *, now: datetime) -> ApiToken | None:
    """Give the token that a program sent, and note its use; None when it is unknown, over, revoked or of nobody."""
    form = _FORM.fullmatch(text)
    if form is None:
        return None
    token = ApiToken.objects.select_related("owner", "team").filter(prefix=form[1]).first()
    if token is None or not constant_time_compare(token.digest, _digest(form[1], form[2])):
        return None
    if token.revoked_at is not None or token.expires_at <= now or not token.owner.is_active:
        return None
    hour = floor_hour(now)
    if token.last_used_at is None or token.last_used_at < hour:
        stale = Q(last_used_at=None) | Q(last_used_at__lt=hour)
        ApiToken.objects.filter(stale, pk=token.pk).update(last_used_at=hour)
    return token


def _digest(prefix: str, secret: str) -> str:
    return salted_hmac(f"people.ApiToken.{prefix}", secret, algorithm="sha256").hexdigest()
