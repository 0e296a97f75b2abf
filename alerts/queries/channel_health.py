"""How each channel does: last delivery, what waits, what failed lately. One question."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Max, Q

from alerts.models import Channel
from alerts.models.delivery import DeliveryState
from alerts.queries.documents import DELIVERED


@dataclass(frozen=True)
class ChannelHealth:
    """A channel; ``failed`` counts deliveries of the last day that came to nothing."""

    name: str
    kind: str
    broken_at: datetime | None
    broken_reason: str
    failing_since: datetime | None
    delivered_at: datetime | None
    waiting: int
    failed: int


def channels_health(now: datetime) -> list[ChannelHealth]:
    """Give every channel by name."""
    over = (DeliveryState.FAILED, DeliveryState.DEAD)
    rows = Channel.objects.order_by("name").annotate(
        last=Max("deliveries__delivered_at", filter=Q(deliveries__state__in=DELIVERED)),
        waits=Count("deliveries", filter=Q(deliveries__state=DeliveryState.WAITING)),
        came_to_nothing=Count(
            "deliveries", filter=Q(deliveries__state__in=over, deliveries__due_at__gte=now - timedelta(days=1))
        ),
    )
    columns = ("name", "kind", "broken_at", "broken_reason", "failing_since", "last", "waits", "came_to_nothing")
    return [ChannelHealth(*row) for row in rows.values_list(*columns)]
