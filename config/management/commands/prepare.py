"""`prepare`: what a start needs beyond a migrated database. `make run` and containers call it before the web server."""

from __future__ import annotations

import secrets
from io import StringIO
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand

from common.clock import real_now
from config.static_files import collect_static
from people.actions.passwords import make_first_login

FIRST_ADDRESS = "admin@localhost"


class Command(BaseCommand):
    """Collect static files, and make the first sign-in of a database that has none."""

    help = __doc__ or ""

    def handle(self, *_args: Any, **_options: Any) -> None:
        """Do these, and what an app adds; print a password that was made here, this once."""
        collect_static()
        given = settings.ENVIRONMENT.get("ADMIN_PASSWORD")
        password = given or secrets.token_urlsafe(12)
        if make_first_login(now=real_now(), email=FIRST_ADDRESS, password=password):
            shown = "the password in ADMIN_PASSWORD_FILE" if given else f"password {password} (shown only now)"
            self.stdout.write(f"First sign-in: {FIRST_ADDRESS}, {shown}")
        for name, arguments in settings.PREPARED_BY.items():
            call_command(name, *arguments, stdout=StringIO())
