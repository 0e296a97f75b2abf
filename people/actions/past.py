"""Keep what a value was before it changes: a change holds from its time on, never before."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

from people.models import PastCostCenter, PastMonthLength, Team


def keep_month_length(hours: Decimal, *, until: datetime) -> None:
    """Keep that a month had ``hours`` before ``until``; what was kept for later times is taken back."""
    later = PastMonthLength.objects.filter(until__gte=until).order_by("until")
    first = later.first()
    held = first.hours if first else hours
    later.delete()
    PastMonthLength.objects.create(until=until, hours=held)


def keep_cost_center(team: Team, cost_center: str, *, until: datetime) -> None:
    """Keep that ``team`` had ``cost_center`` before ``until``; what was kept for later times is taken back."""
    later = PastCostCenter.objects.filter(team=team, until__gte=until).order_by("until")
    first = later.first()
    held = first.cost_center if first else cost_center
    later.delete()
    PastCostCenter.objects.create(team=team, until=until, cost_center=held)
