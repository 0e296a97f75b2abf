"""Reads of `people`: the organisation, the installation's clock, teams."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from people.models import Installation, Organization


def organization() -> Organization:
    """Give the organisation (made with defaults on first use)."""
    return Organization.objects.get_or_create(pk=1)[0]


def organization_zone() -> ZoneInfo:
    """Give the zone in which days and months are cut."""
    return ZoneInfo(organization().time_zone)


def installation() -> Installation:
    """Give this installation (made on first use)."""
    return Installation.objects.get_or_create(pk=1)[0]
