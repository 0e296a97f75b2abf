"""`manage.py replay`: live through a stretch of the past, pass by pass."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from common.commands import DoorCommand
from common.periods import iso, parse_duration, parse_moment
from config.pipeline import replay


class Command(DoorCommand):
    """Replay; the first one puts the database under `clock: replay` until `go_live`."""

    help = "run every pass between two times"

    def add_options(self, parser: CommandParser) -> None:
        """Add the stretch, the step and the effects."""
        parser.add_argument("--since", required=True)
        parser.add_argument("--until", required=True)
        parser.add_argument("--step", default="5m", help="at most 10m")
        parser.add_argument("--effects", choices=["simulated", "real"], default="simulated")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Run the passes; progress goes to stderr, a line per simulated hour."""
        return replay(
            since=parse_moment(options["since"], key="--since"),
            until=parse_moment(options["until"], key="--until"),
            step=parse_duration(options["step"], key="--step"),
            is_real=options["effects"] == "real",
            progress=self.show,
        ).as_json()

    def show(self, now: datetime) -> None:
        """Say how far the replay is."""
        if now.minute == 0 and now.second == 0:
            self.stderr.write(f"replayed to {iso(now)}")
