"""What a provider of the story says of its instances while something happens: as declared, and changed since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from common.periods import iso, parse_moment
from demo.domain.incidents import What
from demo.domain.scripts import DEARER_PCT, Started, read_started

CENT = Decimal("0.01")
Entry = Mapping[str, Any]


def as_told(spec: Mapping[str, Any], now: datetime) -> list[dict[str, Any]]:
    """Give the declared instances of an account as its provider tells them at ``now``."""
    runs = [one for one in read_started(spec) if one.since <= now]
    return [_told(entry, [one for one in runs if entry["host"] in one.hosts], now) for entry in spec["instances"]]


def next_change(spec: Mapping[str, Any], now: datetime) -> datetime | None:
    """Give the next time after ``now`` at which a run begins or ends."""
    times = [at for one in read_started(spec) for at in (one.since, one.until)]
    return min((at for at in times if at > now), default=None)


def _told(entry: Entry, runs: Sequence[Started], now: datetime) -> dict[str, Any]:
    told = dict(entry)
    stops = [one for one in runs if one.script.what is What.STOPPED]
    if stops:
        told["history"] = [*(entry.get("history") or []), *_stops(entry, stops, now)]
    dearer = [one for one in runs if one.script.what is What.DEARER]
    if dearer:
        told |= _price(Decimal(entry["price_per_hour"]), max(dearer, key=lambda one: one.since), now)
    return told


def _stops(entry: Entry, stops: Sequence[Started], now: datetime) -> list[dict[str, Any]]:
    """Give what its history says of stops, up to ``now``; a run that was over at once says nothing."""
    launched = parse_moment(entry["launched_at"])
    found = []
    for one in sorted(stops, key=lambda one: one.since):
        if launched < one.since < one.until:
            found.append({"at": iso(one.since), "state": "stopped"})
            found += [{"at": iso(one.until), "state": "running"}] if one.until <= now else []
    return found


def _price(price: Decimal, newest: Started, now: datetime) -> dict[str, Any]:
    """Give the price and since when it is asked."""
    if now < newest.until:
        raised = (price * (100 + DEARER_PCT) / 100).quantize(CENT)
        return {"price_per_hour": str(raised), "valid_from": iso(newest.since)}
    return {"price_per_hour": str(price), "valid_from": iso(newest.until)}
