"""Drive the jobs: one by one for beat, all in order for `tick`, again and again for `replay`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import DatabaseError

from alerts.queries import next_due
from common.clock import BEHIND, real_now
from common.database import advisory_lock
from common.effects import SIMULATED, Effects, real_effects
from common.errors import BadInput, FleetledgerError, OutsideFailed
from common.periods import STEP, floor_mark, iso
from config.passes import JOBS, TICK, Pass
from fleet.actions.runs import Run, fail_run, finish_runs
from people.actions.world import advance_world
from people.queries import installation, is_replaying

log = structlog.get_logger(__name__)

LONGEST_STEP = timedelta(minutes=10)
WITH = {"collect": ("collect", "judge", "meter")}
"""What runs with a periodic job: fresh samples are judged and metered at once."""
MOST_BETWEEN = 600  # runs of `deliver` between two passes: one a second for ten minutes


@dataclass
class Tally:
    """What passes did, as `tick` and `replay` print it."""

    effects: str
    passes: int = 0
    jobs: dict[str, int] = field(default_factory=dict)
    calls: int = 0
    messages: int = 0

    def as_json(self) -> dict[str, Any]:
        """Give the document of doors.md."""
        return asdict(self)


def effects_at(now: datetime, *, clock: datetime) -> Effects:
    """Give the real effects of a pass at ``now``; nothing ever leaves the demo fleet."""
    return SIMULATED if settings.IS_DEMO else real_effects(now=now, clock=clock)


def run_job(name: str) -> dict[str, Any]:
    """Run one periodic job by the real clock (beat's door). Sleeps under replay; a run that goes on is left alone."""
    if is_replaying():
        return {"skipped": "clock is replay"}
    with advisory_lock(f"job {name}") as held:
        if not held:
            return {"skipped": "already running"}
        clock = real_now()
        now = clock if name == "deliver" else floor_mark(clock - BEHIND)
        effects = effects_at(clock, clock=clock)
        done = {part: _run(part, Pass(now, effects, is_live=True), clock=clock) for part in WITH.get(name, (name,))}
        _advance_if_later(now)
        return done


def _advance_if_later(now: datetime) -> None:
    """Jobs run side by side, each with its own grid: the later one wins."""
    try:
        advance_world(now=now)
    except FleetledgerError as error:
        if error.code != "clock_backwards":
            raise


def _run(name: str, one: Pass, *, clock: datetime) -> int:
    """Run one job and write how it went."""
    run = _try(name, one, clock=clock)
    finish_runs([run] if run else [])
    return run.count if run else 0


def _try(name: str, one: Pass, *, clock: datetime) -> Run | None:
    """Run one job. What the outside did wrong is a row (None); what we did wrong is raised, with a row too."""
    began = time.monotonic()
    try:
        count = JOBS[name](one)
    except Exception as error:
        fail_run(Run(name, one.now, clock, time.monotonic() - began), error=error)
        if not isinstance(error, OutsideFailed):
            raise
        log.warning("job_failed", job=name, code=error.code, message=error.message)
        return None
    return Run(name, one.now, clock, time.monotonic() - began, count)


SELDOM = {"meter": timedelta(hours=1), "retain": timedelta(days=1)}
"""What a replay does in its first and last pass and when such a stretch is full: nothing reads these rows between."""


def _due(now: datetime, before: datetime | None) -> tuple[str, ...]:
    """The jobs of a pass at ``now`` after one at ``before`` (None: all of them), in the order of a tick."""

    def is_due(name: str) -> bool:
        span = SELDOM.get(name)
        return span is None or before is None or floor_mark(now, span) > floor_mark(before, span)

    return tuple(name for name in TICK if is_due(name))


def _tick(now: datetime, effects: Effects, tally: Tally, jobs: tuple[str, ...] = TICK) -> None:
    one = Pass(now, effects)
    clock = real_now()
    done: list[Run] = []
    try:
        for name in jobs:
            run = _try(name, one, clock=clock)
            done += [run] if run else []
            tally.jobs[name] = tally.jobs.get(name, 0) + 1
            if run and name == "deliver":
                tally.messages += run.count
    except BaseException:
        with suppress(DatabaseError):  # what failed first is what has to be told
            finish_runs(_newest(done))
        raise
    finish_runs(_newest(done))
    tally.passes += 1


def _newest(done: list[Run]) -> list[Run]:
    """A job that runs twice in a pass is told of once."""
    return list({run.name: run for run in done}.values())


def tick(*, now: datetime, effects: Effects = SIMULATED) -> Tally:
    """Run every job once. Raises Refused (clock_backwards).

    Under given time, what fell due since the last pass is delivered first, each at its own time, as in a replay.
    """
    tally = Tally(effects.kind)
    before = installation().world_at
    advance_world(now=now)
    if effects.far_from_clock and before is not None:
        _between(before, now, effects, tally)
    _tick(now, effects, tally)
    return tally


def replay(
    *,
    since: datetime,
    until: datetime,
    step: timedelta = STEP,
    longest_step: timedelta = LONGEST_STEP,
    is_real: bool = False,
    progress: Callable[[datetime], None] = lambda now: None,
) -> Tally:
    """Pass at ``since``, ``since + step`` ... ``until``, inclusive; between passes what has a due time runs.

    Raises BadInput (bad_step, period_backwards) and Refused (clock_backwards).
    """
    _check(since, until, step, longest_step)
    tally = Tally("real" if is_real else "simulated")
    before = None
    for now in _times(since, until, step):
        effects = effects_at(now, clock=real_now()) if is_real else SIMULATED
        advance_world(now=now, is_replay=True)
        _tick(now, effects, tally, _due(now, None if now + step > until else before))
        before = now
        _between(now, min(now + step, until), effects, tally)
        progress(now)
    return tally


def _check(since: datetime, until: datetime, step: timedelta, longest: timedelta) -> None:
    if until < since:
        raise BadInput("period_backwards", f"--until {iso(until)} is before --since {iso(since)}.", hint="Swap them.")
    if not timedelta(seconds=30) <= step <= longest:
        raise BadInput("bad_step", "--step must be between 30s and 10m.", hint="Leave it out for 5m.")
    if floor_mark(since) != since:
        raise BadInput(
            "bad_mark", f"--since {iso(since)} is not on the 5-minute grid.", hint="Take a multiple of 5 minutes."
        )


def _times(since: datetime, until: datetime, step: timedelta) -> Iterator[datetime]:
    now = since
    while now <= until:
        yield now
        now += step


def _between(start: datetime, end: datetime, effects: Effects, tally: Tally) -> None:
    """Deliver what falls due after this pass and before the next."""
    now = start
    for _ in range(MOST_BETWEEN):
        due = next_due(after=now)
        if due is None or due >= end:
            return
        now = due
        tally.messages += _run("deliver", Pass(now, effects), clock=real_now())
