"""The world's clock: it only goes forward, and only passes move it."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from common.errors import Refused
from common.periods import iso
from people.actions.audit import SYSTEM, record
from people.models import Installation
from people.models.installation import ClockMode
from people.queries import installation


@transaction.atomic
def advance_world(*, now: datetime, is_replay: bool = False) -> None:
    """Move ``world_at`` to ``now``; equal is not earlier. Earlier raises ``clock_backwards``.

    ``is_replay`` puts the database under ``clock: replay``, where beat sleeps until ``go_live``.
    """
    row = Installation.objects.select_for_update().filter(pk=1).first() or installation()
    if row.world_at and now < row.world_at:
        raise Refused(
            "clock_backwards",
            f"The world is already at {iso(row.world_at)}; a pass at {iso(now)} would go back.",
            hint=f"Go on from {iso(row.world_at)}, or take an empty database for another replay.",
        )
    if is_replay and row.clock != ClockMode.REPLAY:
        record(now=now, by=SYSTEM, action="clock_to_replay", subject_kind="installation", subject=str(row.name))
        row.clock = ClockMode.REPLAY
    row.world_at = now
    row.save(update_fields=["clock", "world_at"])


@transaction.atomic
def follow_live_clock(*, now: datetime, by: str = SYSTEM) -> bool:
    """Put the database back under the real clock; say whether it was under replay."""
    installation()
    row = Installation.objects.select_for_update().get(pk=1)
    was_replay = row.clock == ClockMode.REPLAY
    if was_replay:
        row.clock = ClockMode.LIVE
        row.world_at = min(row.world_at, now) if row.world_at else None  # a replay may have run ahead of the clock
        row.save(update_fields=["clock", "world_at"])
        record(now=now, by=by, action="clock_to_live", subject_kind="installation", subject=str(row.name))
    return was_replay
