"""`manage.py alerts`: what was told, and what became of it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from alerts.queries import alerts_document
from common.commands import DoorCommand
from common.periods import parse_moment


class Command(DoorCommand):
    """List alerts."""

    help = "list alerts: opened in a period, as they stand"
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add the period."""
        parser.add_argument("--since", help="opened at or after")
        parser.add_argument("--until", help="opened before")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Give the list of doors.md."""
        since = parse_moment(options["since"], key="--since") if options["since"] else None
        until = parse_moment(options["until"], key="--until") if options["until"] else None
        return alerts_document(since=since, until=until, at=at)

    def text(self, answer: Any) -> str:
        """One line per alert."""
        lines = [
            f"{row['opened_at']}  {row['state']:<12} {row['kind']:<16} {row['subject']['id']}"
            f"  {row['team'] or 'unassigned'}  {row['notices']} sent"
            for row in answer
        ]
        return "\n".join(lines) or "No alerts."
