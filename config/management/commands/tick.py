"""`manage.py tick`: one pass of everything."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from common.clock import BEHIND, real_now
from common.commands import DoorCommand
from common.effects import SIMULATED
from config.pipeline import effects_at, tick


class Command(DoorCommand):
    """Sync, collect, judge, meter, deliver, retain: once. Effects are simulated unless you say real."""

    help = "run every job once for one time"
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add --effects."""
        parser.add_argument("--effects", choices=["simulated", "real"], default="simulated")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Run the pass."""
        clock = real_now()
        now = at or clock - BEHIND
        effects = effects_at(now, clock=clock) if options["effects"] == "real" else SIMULATED
        return tick(now=now, effects=effects).as_json()
