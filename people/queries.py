"""Reads of `people`: the organisation, the installation's clock, teams."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from people.models import Installation, Organization
from people.models.installation import ClockMode


def organization() -> Organization:
    """Give the organisation (made with defaults on first use)."""
    return Organization.objects.get_or_create(pk=1)[0]


def organization_zone() -> ZoneInfo:
    """Give the zone in which days and months are cut."""
    return ZoneInfo(organization().time_zone)


def installation() -> Installation:
    """Give this installation (made on first use)."""
    return Installation.objects.get_or_create(pk=1)[0]


def is_replaying() -> bool:
    """Say whether the database follows replayed time: beat's jobs sleep, pages say so."""
    return installation().clock == ClockMode.REPLAY


def write_time(at: datetime | None, *, clock: datetime) -> datetime:
    """Give the `now` of a writing command: --at, else the world's time under replay, else the real ``clock``."""
    row = installation()
    if at is not None:
        return at
    if row.clock == ClockMode.REPLAY and row.world_at:
        return row.world_at
    return clock
