"""`manage.py doctor`: what is connected, what is wrong, what to do."""

from __future__ import annotations

import sys
from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from common.clock import real_now
from common.commands import DoorCommand
from config.doctor import examine
from people.queries import write_time


class Command(DoorCommand):
    """Check sources, accounts, channels, the clock and our own jobs. --strict leaves with 3 when something is wrong."""

    help = "check everything that Fleetledger stands on"
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add --strict."""
        parser.add_argument("--strict", action="store_true", help="exit 3 when a check fails")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Examine; remember for --strict whether all is well."""
        rows = [check.as_json() for check in examine(now=write_time(at, clock=real_now()))]
        self.is_well = all(row["ok"] for row in rows)
        return rows

    def text(self, answer: Any) -> str:
        """One line per check, the remedy below."""
        lines = []
        for row in answer:
            lines.append(
                f"{'ok  ' if row['ok'] else 'FAIL'} {row['check']} {row['subject']}: {row['message']} [{row['code']}]"
            )
            if row["hint"] and not row["ok"]:
                lines.append(f"     {row['hint']}")
        return "\n".join(lines)

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer, then leave with 3 under --strict when a check failed."""
        super().handle(*args, **options)
        if options["strict"] and not self.is_well:
            sys.exit(3)
