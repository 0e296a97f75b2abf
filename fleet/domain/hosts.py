"""Which instance is the host that telemetry names? By its name, over time."""

from __future__ import annotations

import ipaddress
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

EARLY = timedelta(minutes=15)
"""Points up to this long before a launch are the clock's fault and belong to it."""


@dataclass(frozen=True)
class Life:
    """An instance's time under a host name (lower case): half-open; None: from the beginning, still going on."""

    instance_id: int
    host: str
    start: datetime | None
    end: datetime | None


@dataclass(frozen=True)
class Stay:
    """A piece of time in which a host is an instance; None: no account knows it then."""

    start: datetime
    end: datetime | None
    instance_id: int | None


class HostBook:
    """Finds the lives of a host: by the exact name, else by a first DNS label that is unique on both sides."""

    def __init__(self, lives: Iterable[Life], telemetry_hosts: Collection[str]) -> None:
        self._by_host: defaultdict[str, list[Life]] = defaultdict(list)
        for life in lives:
            if life.host:
                self._by_host[life.host].append(life)
        self._by_label: defaultdict[str, set[str]] = defaultdict(set)
        for host in self._by_host:
            self._by_label[first_label(host)].add(host)
        strangers: defaultdict[str, int] = defaultdict(int)
        for host in telemetry_hosts:
            strangers[first_label(host)] += host not in self._by_host
        self._strangers = strangers
        self._lives: dict[str, Sequence[Life]] = {}

    def lives(self, host: str) -> Sequence[Life]:
        """Give the lives under ``host``, or none."""
        if host not in self._lives:
            self._lives[host] = self._find(host)
        return self._lives[host]

    def _find(self, host: str) -> Sequence[Life]:
        if host in self._by_host:
            return self._by_host[host]
        label = first_label(host)
        same = self._by_label.get(label, ())
        return self._by_host[next(iter(same))] if len(same) == 1 and self._strangers[label] == 1 else ()

    def stays(self, host: str, start: datetime, end: datetime | None) -> list[Stay]:
        """Cut [start, end) of a host into the instances it was; where two claim it, the one launched last has it."""
        lives = self.lives(host)
        if not lives:
            return [Stay(start, end, None)]
        begins = {life.instance_id: _begin(life, lives) for life in lives}
        cuts = {begins[life.instance_id] for life in lives} | {life.end for life in lives}
        edges = [start, *sorted(cut for cut in cuts if cut is not None and cut > start and (end is None or cut < end))]
        stays: list[Stay] = []
        for index, edge in enumerate(edges):
            here = [life for life in lives if _holds(begins[life.instance_id], life.end, edge)]
            owner = (
                max(here, key=lambda life: (life.start is not None, life.start, life.instance_id)).instance_id
                if here
                else None
            )
            until = edges[index + 1] if index + 1 < len(edges) else end
            if stays and stays[-1].instance_id == owner:
                stays[-1] = Stay(stays[-1].start, until, owner)
            else:
                stays.append(Stay(edge, until, owner))
        return stays


def first_label(host: str) -> str:
    """Give the first DNS label; an IP address is its own label."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return host.split(".", 1)[0]
    return host


def _begin(life: Life, lives: Sequence[Life]) -> datetime | None:
    """Give when a life takes the host: a little before its launch, but not into the life of another."""
    if life.start is None:
        return None
    early = life.start - EARLY
    earlier = [other.end for other in lives if other is not life and other.end is not None and other.end <= life.start]
    return max([early, *(end for end in earlier if end > early)])


def _holds(start: datetime | None, end: datetime | None, moment: datetime) -> bool:
    return (start is None or start <= moment) and (end is None or moment < end)
