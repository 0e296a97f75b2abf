"""Apply a `fleet.yaml`."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser
from django.utils import timezone

from common.commands import DoorCommand
from common.errors import Refused
from config.declared.apply import apply_file
from people.queries import write_time


class Command(DoorCommand):
    """`apply FILE [--dry-run] [--prune] [--at T]`."""

    help = "Bring the database to what a file declares: all of it, or nothing."
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add the file and the switches."""
        parser.add_argument("file", type=Path, help="the file, in the form of docs/reference/fleet-yaml.md")
        parser.add_argument("--dry-run", action="store_true", help="say what would be done, and do nothing")
        parser.add_argument(
            "--prune", action="store_true", help="remove what the file declared once and no longer does"
        )

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Apply and tell."""
        if settings.IS_DEMO:
            hint = "Leave FLEETLEDGER_DEMO out: then the file holds in your own database."
            raise Refused("demo_database", "The demo fleet is not changed by files.", hint=hint)
        now = write_time(at, clock=timezone.now())
        return apply_file(options["file"], now=now, dry_run=options["dry_run"], prune=options["prune"]).as_json()

    def text(self, answer: Any) -> str:
        """List what was done, one thing a line."""
        lines = [f"+ {one['kind']} {one['name']}" for one in answer["created"]]
        lines += [f"~ {one['kind']} {one['name']}: {', '.join(one['fields'])}" for one in answer["changed"]]
        lines += [f"- {one['kind']} {one['name']}" for one in answer["removed"]]
        lines += [f"! {one['message']} [{one['code']}]" for one in answer["warnings"]]
        return "\n".join([*lines, f"{answer['unchanged']} unchanged"])
