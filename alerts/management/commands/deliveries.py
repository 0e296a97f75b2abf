"""`manage.py deliveries`: what was sent to whom, over what, and every attempt."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from alerts.queries import deliveries_document
from common.commands import DoorCommand
from common.periods import parse_moment


class Command(DoorCommand):
    """List deliveries."""

    help = "list deliveries of messages and their attempts"
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add --since."""
        parser.add_argument("--since", help="of messages written at or after")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Give the list of doors.md."""
        since = parse_moment(options["since"], key="--since") if options["since"] else None
        return deliveries_document(since=since, at=at)

    def text(self, answer: Any) -> str:
        """One line per delivery, its attempts below."""
        lines = []
        for row in answer:
            reached = " ".join(part for part in (row["channel"], row["to"]) if part)
            lines.append(
                f"{row['delivered_at'] or '-':<20}  {row['state']:<10} {row['kind']:<10} {row['subject']}  {reached}"
            )
            for attempt in row["attempts"]:
                words = (attempt["at"], attempt["outcome"], attempt["status"], attempt["detail"])
                lines.append("    " + " ".join(str(word) for word in words if word is not None))
        return "\n".join(lines) or "No deliveries."
