"""The idle queue: machines by what happens next to them, with what they cost an hour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

from fleet.domain.ports import HourlyPrice, PriceLookup
from fleet.domain.states import IDLE, State
from fleet.queries.queue import QueueAsked, Queued, exempt_of, queued


class Group(StrEnum):
    """What happens next, in the order of the page."""

    IDLE = "idle"  # idle now
    NEXT = "next"  # quiet, and idle when its window is full
    UNSEEN = "unseen"  # can't be seen well enough to say: counted nowhere
    EXEMPT = "exempt"  # idle, and left alone


@dataclass(frozen=True)
class Entry:
    """A machine of the queue. ``price`` None: unpriced. ``exempt``: who left it alone, why, until when."""

    machine: Queued
    group: Group
    price: HourlyPrice | None
    exempt: Mapping[str, Any] | None


@dataclass(frozen=True)
class Sum:
    """``per_hour``: currency -> money an hour of ``machines`` with ``gpus``; ``unpriced``: how many have no price."""

    per_hour: Mapping[str, Decimal]
    machines: int
    gpus: int
    unpriced: int


def idle_queue(asked: QueueAsked, prices: PriceLookup, at: datetime) -> list[Entry]:
    """Give every machine of the queue at ``at``."""
    rows = queued(asked)
    exempt = exempt_of([row for row in rows if row.state in IDLE], at)
    known = prices.prices([row.id for row in rows], at) if rows else {}
    return [Entry(row, _group(row, exempt), known.get(row.id), exempt.get(row.id)) for row in rows]


def _group(row: Queued, exempt: Mapping[int, Any]) -> Group:
    if row.state == State.UNKNOWN:
        return Group.UNSEEN
    if row.state not in IDLE:
        return Group.NEXT
    return Group.EXEMPT if row.id in exempt else Group.IDLE


def sum_of(entries: Sequence[Entry]) -> Sum:
    """Add up what machines cost an hour; currencies stay apart, unpriced ones are counted beside."""
    per_hour: dict[str, Decimal] = {}
    for one in entries:
        if one.price:
            per_hour[one.price.currency] = per_hour.get(one.price.currency, Decimal(0)) + one.price.per_hour
    gpus = sum(one.machine.gpu_count or 0 for one in entries)
    return Sum(per_hour, len(entries), gpus, sum(one.price is None for one in entries))
