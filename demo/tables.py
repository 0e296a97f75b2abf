"""Incidents as the page shows them: words with their times, and what is going on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from demo.domain.scripts import SCRIPTS, Script
from demo.queries import Run
from demo.sentences import WORDS, Told, Words
from fleet.queries.hosts_now import HostNow

MACHINES_SHOWN = 8


@dataclass(frozen=True)
class Step:
    """Something to be seen: at a time, and whether that has come."""

    at: datetime
    words: Words
    is_past: bool


@dataclass(frozen=True)
class GoingOn:
    """A run: ``states`` counts its machines by state; ``machines`` are some of them, ``more`` how many others."""

    script: Script
    told: Told
    run: Run
    steps: list[Step]
    states: list[tuple[str, int]]
    machines: list[HostNow]
    more: int


@dataclass(frozen=True)
class Ready:
    """An incident that can be started."""

    script: Script
    told: Told


def going_on(runs: Iterable[Run], now: datetime) -> list[GoingOn]:
    """Make rows of what lasts or is just over."""
    found = []
    for run in runs:
        script = run.started.script
        told = WORDS[script.name]
        times = [(run.started.since + timedelta(minutes=minutes), words) for minutes, words in told.watch]
        steps = [Step(at, words, at <= now) for at, words in times if at < run.started.until]
        steps.append(Step(run.started.until, told.after, run.started.until <= now))
        states = Counter(host.state for host in run.hosts if host.state)
        shown = run.hosts[:MACHINES_SHOWN]
        found.append(GoingOn(script, told, run, steps, states.most_common(), shown, len(run.hosts) - len(shown)))
    return found


def ready(on: Collection[str]) -> list[Ready]:
    """Give the incidents that do not last now."""
    return [Ready(script, WORDS[script.name]) for script in SCRIPTS if script.name not in on]
