"""`migrate` as Django has it, one process at a time, as the owner of the tables, and rights given afterwards."""

from __future__ import annotations

from typing import Any

from django.core.management.commands.migrate import Command as DjangoCommand
from django.db import connection, transaction

from common.database import advisory_lock
from config.embedded.roles import as_owner, grant_rights, is_embedded


class Command(DjangoCommand):
    """Bring the database's tables up to this release."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Wait for other processes that migrate, then migrate and give rights."""
        if options["database"] != connection.alias or connection.in_atomic_block:
            super().handle(*args, **options)  # test databases
            return
        with as_owner(), advisory_lock("migrate", wait=True):
            super().handle(*args, **options)
            if is_embedded():
                with transaction.atomic():
                    grant_rights()
