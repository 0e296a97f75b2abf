"""What waits to be sent, and when."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Coalesce, Greatest

from alerts.models import Channel, Delivery
from alerts.models.delivery import DeliveryState

CLAIM_LIVES = timedelta(minutes=2)
"""A claim older than this belongs to a process that died; no send takes that long."""


def waiting() -> QuerySet[Delivery]:
    """Give the deliveries that are not over, on channels that are not broken."""
    return Delivery.objects.filter(state=DeliveryState.WAITING, channel__broken_at__isnull=True)


def free(now: datetime) -> Q:
    """Say: not claimed, or by a process that died."""
    return Q(claim__isnull=True) | Q(claimed_at__lte=now - CLAIM_LIVES)


def due_channels(now: datetime) -> list[Channel]:
    """Give the channels that have something to send now and may be called now."""
    due = waiting().filter(free(now), due_at__lte=now).filter(open_at(now)).values("channel")
    return list(Channel.objects.filter(pk__in=due).order_by("pk"))


def open_at(now: datetime) -> Q:
    """Say: the other side did not ask to wait beyond ``now``."""
    return Q(channel__not_before__isnull=True) | Q(channel__not_before__lte=now)


def next_due(*, after: datetime) -> datetime | None:
    """Give the first moment later than ``after`` at which something waiting may be sent; None when nothing waits.

    What could have gone at ``after`` already and did not (a full pass) is due a second later.
    """
    claimed = Greatest(F("due_at"), F("claimed_at") + CLAIM_LIVES)
    due = Greatest(Coalesce(claimed, F("due_at")), Coalesce(F("channel__not_before"), F("due_at")))
    first = waiting().annotate(sendable_at=due).order_by("sendable_at").values_list("sendable_at", flat=True).first()
    if first is None:
        return None
    return first if first > after else after + timedelta(seconds=1)


def deliveries_by_state() -> dict[str, int]:
    """Count deliveries by their state."""
    return dict(Delivery.objects.order_by().values_list("state").annotate(count=Count("pk")))


def trouble_since(since: datetime) -> tuple[int, list[str]]:
    """Give how many messages could not be delivered since then, and the channels that fail or are broken now."""
    lost = Delivery.objects.filter(
        state__in=(DeliveryState.FAILED, DeliveryState.DEAD), message__created_at__gte=since
    ).count()
    failing = Channel.objects.filter(Q(broken_at__isnull=False) | Q(failing_since__isnull=False))
    return lost, list(failing.order_by("name").values_list("name", flat=True))
