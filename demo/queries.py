"""How far the demo fleet's history is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from common.periods import parse_moment
from demo.domain.incidents import What
from demo.domain.scripts import NEW_NAME, SCRIPTS, Started, read_started
from fleet.queries.hosts_now import HostNow, hosts_now
from fleet.queries.sources import source_spec
from people.queries import installation, is_replaying

NAME = "demo"
"""Of the source, and its kind."""
DAY = timedelta(days=1)


@dataclass(frozen=True)
class Progress:
    """``done`` of ``days`` whole days are there; ``is_filling``: the rest is on its way."""

    done: int
    days: int
    is_filling: bool


def history_start() -> datetime | None:
    """Give the midnight from which the story is told; None before it was begun."""
    spec = source_spec(NAME)
    return parse_moment(spec["since"]) if spec else None


def progress(now: datetime) -> Progress:
    """Say how much of the history up to ``now`` is there."""
    start = history_start()
    if start is None:
        return Progress(0, 0, is_filling=True)
    until = installation().world_at or start
    return Progress(max(0, (until - start) // DAY), (now - start) // DAY, is_replaying())


@dataclass(frozen=True)
class Run:
    """The newest run of an incident, and how the hosts that it struck stand now. ``is_on``: it still lasts."""

    started: Started
    is_on: bool
    hosts: list[HostNow]


AFTERMATH = timedelta(minutes=90)
"""So long after its end one still sees an incident heal."""


def newest_runs(now: datetime) -> list[Run]:
    """Give the incidents that last or are just over, the newest first, with the hosts they strike."""
    newest = {one.name: one for one in read_started(source_spec(NAME) or {}) if one.since <= now}
    shown = [newest[script.name] for script in SCRIPTS if script.name in newest]
    shown = sorted((one for one in shown if now < one.until + AFTERMATH), key=lambda one: one.since, reverse=True)
    known = hosts_now({host for one in shown for host in _named(one)})
    return [Run(one, one.is_on(now), [known[host] for host in _named(one) if host in known]) for one in shown]


def _named(one: Started) -> list[str]:
    """Give the hosts of a run, with the name that one of them was given."""
    return [*one.hosts, *([NEW_NAME] if one.script.what is What.RENAMED else [])]
