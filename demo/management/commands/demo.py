"""`manage.py demo`: bring the demo fleet's history up to now; then it is live. A killed run goes on in the next."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from common.clock import BEHIND, real_now
from common.commands import DoorCommand
from common.errors import Refused
from common.periods import STEP, floor_mark, iso
from config.declared.apply import apply_file
from config.pipeline import replay
from demo.domain.declaration import dated
from demo.domain.incidents import DAYS
from demo.queries import NAME, history_start
from fleet.actions.collect import collect_source
from fleet.actions.default_source import keep_source
from fleet.queries.sources import metric_sources
from people.actions.world import follow_live_clock
from people.queries import installation, is_replaying

DECLARATION = Path(__file__).resolve().parents[2] / "fleet.yaml"
DAY = timedelta(days=1)
LIVE_MAY_CATCH_UP = timedelta(hours=1)
PACE = ((timedelta(hours=6), 1), (timedelta(days=7), 4))
"""So close to the end a pass comes after so many steps of 5 minutes; further back every COARSEST."""
COARSEST = 24
TOLD_EVERY = 5  # days
COURTESY = 5  # pages come first
Show = Callable[[datetime, datetime], None]


class Command(DoorCommand):
    """Fill the demo database by replay: samples of up to a day at once, then the passes of that time."""

    help = "bring the demo fleet's history up to now"
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add --days and --begin."""
        parser.add_argument("--days", type=int, default=DAYS, help="how much history a new demo gets")
        parser.add_argument("--begin", action="store_true", help="only declare the fleet and hold the clock")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Begin, or go on; give what is there."""
        if not settings.IS_DEMO:
            hint = "FLEETLEDGER_DEMO=on names the demo's own database; make run sets it by itself."
            raise Refused("no_demo_database", "This database is for a real fleet.", hint=hint)
        start = until = begin(now=at or real_now(), days=options["days"])
        if not options["begin"]:
            os.nice(COURTESY)
            until = fill(start=start, at=at, show=self.show)
            follow_live_clock(now=real_now())
        return {"start": iso(start), "until": iso(until)}

    def text(self, answer: Any) -> str:
        """Say it in a line."""
        return f"Demo history from {answer['start']} to {answer['until']} is there."

    def show(self, start: datetime, now: datetime) -> None:
        """Say how far it is."""
        days = (now - start) // DAY
        if days and days % TOLD_EVERY == 0 and now == start + days * DAY:
            self.stderr.write(f"Demo history: {days} days")


def begin(*, now: datetime, days: int = DAYS) -> datetime:
    """Declare the fleet and its source, unless that was done; give the midnight from which the story is told.

    The story is DAYS old at its last midnight, however few ``days`` of it are told.
    When history is missing the database is put under replay: beat sleeps until it is there.
    """
    start = history_start()
    if start is None:
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        story, start = today - DAYS * DAY, today - days * DAY
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / DECLARATION.name
            path.write_text(dated(DECLARATION.read_text(encoding="utf-8"), story, start), encoding="utf-8")
            apply_file(path, now=start)
        keep_source(name=NAME, kind=NAME, spec={"start": iso(story), "since": iso(start)}, read_from=start)
    done = installation().world_at or start
    if now - done > LIVE_MAY_CATCH_UP:
        mark = floor_mark(done + STEP - timedelta(microseconds=1))  # live jobs come between marks too
        replay(since=mark, until=mark)
    return start


def fill(*, start: datetime, at: datetime | None = None, show: Show = lambda start, now: None) -> datetime:
    """Replay stretch by stretch up to ``at`` (None: the clock, which goes on meanwhile); give how far it came.

    A database that is live already has nothing to fill.
    """
    (source,) = metric_sources(NAME)
    while True:
        end = floor_mark(at or real_now() - BEHIND)
        done = installation().world_at or start
        if end - done < STEP or not is_replaying():
            return done
        until, steps = stretch(done, end)
        collect_source(source, now=until)
        replay(since=done + steps * STEP, until=until, step=steps * STEP, longest_step=COARSEST * STEP)
        show(start, until)


def stretch(done: datetime, end: datetime) -> tuple[datetime, int]:
    """Give the end of the next stretch, at most a day, and how many steps of 5 minutes lie between its passes."""
    changes = [floor_mark(end - back, timedelta(hours=1)) for back, _ in PACE]
    midnight = (done + DAY).replace(hour=0, minute=0, second=0)
    until = min([midnight, end, *(at for at in changes if at > done)])
    steps = next((steps for at, (_, steps) in zip(changes, PACE, strict=True) if done >= at), COARSEST)
    return until, min(steps, (until - done) // STEP)
