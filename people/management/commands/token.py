"""`token create|revoke|list`: tokens for programs that use the REST API."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from common.clock import real_now
from common.commands import DoorCommand
from common.errors import BadInput
from common.periods import iso
from people.actions.tokens import create_token, revoke_token
from people.models import ApiToken
from people.models.token import Scope
from people.queries import tokens_of

BY = "command line"


class Command(DoorCommand):
    """Make, end and list API tokens."""

    help = "make, end and list tokens for the REST API; a secret is shown once"

    def add_options(self, parser: CommandParser) -> None:
        """Take what to do, and about which token."""
        parser.add_argument("verb", choices=("create", "revoke", "list"))
        parser.add_argument("token", nargs="?", default="", help="revoke: the prefix of the token")
        parser.add_argument("--owner", default="", help="e-mail address: it shows what this person may see")
        parser.add_argument("--name", default="", help="create: what uses it")
        parser.add_argument("--team", default="", help="create: narrow it to this team and its sub-teams")
        parser.add_argument("--scopes", default=Scope.READ.value, help="create: with commas; there is read")
        parser.add_argument("--days", type=int, default=90, help="create: how long it is good, at most 365")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Do it; give the token, or the list of tokens."""
        now = real_now()
        if options["verb"] == "list":
            owner = options["owner"].strip().lower()
            return [_document(one, now) for one in tokens_of() if owner in ("", one.owner.email)]
        if options["verb"] == "revoke":
            return _document(revoke_token(now=now, by=BY, prefix=options["token"]), now)
        if options["token"]:
            raise BadInput(
                "unexpected_word", f"create does not know {options['token']!r}.", hint="Give --owner, --name."
            )
        made = create_token(
            now=now, by=BY, owner=options["owner"], name=options["name"], days=options["days"], team=options["team"],
            scopes=tuple(word.strip() for word in options["scopes"].split(",") if word.strip()),
        )  # fmt: skip
        return {**_document(made.token, now), "secret": made.secret}

    def text(self, answer: Any) -> str:
        """One line for each token; a new one with its secret."""
        rows = answer if isinstance(answer, list) else [answer]
        lines = [
            f"{one['token']}  {one['state']:<8} {one['owner']}  {one['name']}  {one['expires_at']}" for one in rows
        ]
        secrets = [f"{one['secret']}\n(shown only now)" for one in rows if "secret" in one]
        return "\n".join([*lines, *secrets]) or "No tokens."


def _document(token: ApiToken, now: datetime) -> dict[str, Any]:
    state = "revoked" if token.revoked_at else "expired" if token.expires_at <= now else "valid"
    return {
        "token": token.prefix,
        "name": token.name,
        "owner": token.owner.email,
        "team": token.team.name if token.team else None,
        "scopes": token.scopes,
        "state": state,
        "created_at": iso(token.created_at),
        "created_by": token.created_by,
        "expires_at": iso(token.expires_at),
        "last_used_at": iso(token.last_used_at) if token.last_used_at else None,
        "revoked_at": iso(token.revoked_at) if token.revoked_at else None,
    }
