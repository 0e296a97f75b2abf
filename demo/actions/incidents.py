"""Start and end incidents in the running demo. What already is is left as it is: they strike from ``now`` on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from common.errors import BadInput, Refused
from common.periods import iso, parse_moment
from demo.domain.picking import pick
from demo.domain.scripts import BY_NAME, Script, Started, read_started
from demo.queries import NAME
from fleet.actions.specs import change_account, change_source
from fleet.queries.sources import source_spec
from people.actions.audit import record
from people.queries import is_replaying

Spec = Mapping[str, Any]


@transaction.atomic
def start_incident(*, now: datetime, by: str, name: str) -> Started:
    """Start an incident; it ends by itself. Raises BadInput (unknown_incident) and Refused.

    Refused with history_is_filling, incident_is_on, nothing_works (nobody works that it could strike).
    """
    script, now = _script(name), now.replace(microsecond=0)
    if is_replaying():
        raise Refused(
            "history_is_filling", "The demo's history is not whole yet.", hint="Start it when the history is there."
        )
    started: list[Started] = []

    def begin(spec: Spec) -> Spec:
        before = read_started(spec)
        if any(one.name == name and one.is_on(now) for one in before):
            raise Refused("incident_is_on", "This incident is going on already.", hint="End it first.")
        start = parse_moment(spec["start"])
        hosts = pick(script, now, start, [one.incident(start) for one in before])
        if not hosts:
            raise Refused(
                "nothing_works", "No machine works that this could strike.", hint="Try again when a job has begun."
            )
        started.append(Started(name, now, now + timedelta(minutes=script.minutes), hosts, by))
        return _with(spec, (*before, *started))

    change_source(name=NAME, change=begin)
    (one,) = started
    if script.account:
        change_account(name=script.account, change=lambda spec: _with(spec, (*read_started(spec), one)))
    record(
        now=now, by=by, action="start_incident", subject_kind="incident", subject=name, hosts=list(one.hosts),
        until=iso(one.until),
    )  # fmt: skip
    return one


@transaction.atomic
def end_incident(*, now: datetime, by: str, name: str) -> Started:
    """End a running incident now. Raises BadInput (unknown_incident) and Refused (incident_is_over)."""
    script, now = _script(name), now.replace(microsecond=0)
    found = next((one for one in read_started(source_spec(NAME) or {}) if one.name == name and one.is_on(now)), None)
    if found is None:
        raise Refused("incident_is_over", "This incident is not going on.", hint="Start it first.")
    ended = replace(found, until=now)

    def end(spec: Spec) -> Spec:
        return _with(spec, [ended if one == found else one for one in read_started(spec)])

    change_source(name=NAME, change=end)
    if script.account:
        change_account(name=script.account, change=end)
    record(now=now, by=by, action="end_incident", subject_kind="incident", subject=name, since=iso(found.since))
    return ended


def _script(name: str) -> Script:
    if name not in BY_NAME:
        raise BadInput("unknown_incident", f"There is no incident {name!r}.", hint=f"There are: {', '.join(BY_NAME)}.")
    return BY_NAME[name]


def _with(spec: Spec, runs: Any) -> Spec:
    return {**spec, "incidents": [one.as_json() for one in runs]}
