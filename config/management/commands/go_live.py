"""`manage.py go_live`: leave replay, follow the real clock."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from common.clock import real_now
from common.commands import DoorCommand
from people.actions.world import follow_live_clock


class Command(DoorCommand):
    """Put the database under the real clock again."""

    help = "leave replay and follow the real clock"

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Switch; every open release would go back to notice (there is no release machine yet, so none is open)."""
        follow_live_clock(now=real_now())
        return {"clock": "live", "releases_back_to_notice": 0}
