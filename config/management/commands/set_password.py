"""`set_password EMAIL`: a new random password for somebody who has lost theirs."""

from __future__ import annotations

import secrets
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from common.clock import real_now
from common.commands import DoorCommand
from people.actions.passwords import set_password


class Command(DoorCommand):
    """Set a random password and print it, this once."""

    help = __doc__ or ""

    def add_options(self, parser: CommandParser) -> None:
        """Take the address."""
        parser.add_argument("email")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> dict[str, str]:
        """Set it; the audit trail says that the server's command line did."""
        password = secrets.token_urlsafe(12)
        set_password(now=real_now(), email=options["email"], password=password, by="command line")
        return {"email": options["email"], "password": password}

    def text(self, answer: dict[str, str]) -> str:
        """Show both."""
        return f"{answer['email']} now signs in with password {answer['password']} (shown only now)"
