"""Tell open alerts that nobody was told of, once a route for them has come."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from alerts.actions.outbox import routed, write_deliveries, write_messages
from alerts.models import Alert, Delivery, Message
from alerts.models.alert import OPEN


def tell_untold(*, now: datetime) -> int:
    """Say what was not said of open alerts while no route or channel was there; give how many are told now.

    An alert with a delivery was told, whatever became of that; one that is acknowledged, snoozed or resolved needs
    nobody any more. They go out in the order in which they opened, as fast as the outbox lets a backlog out.
    """
    untold = Alert.objects.filter(~Exists(_TOLD), state=OPEN).order_by("opened_at", "pk")
    found = [alert.pk for alert, _, _ in routed(list(untold))]
    return _tell(untold.filter(pk__in=found), now) if found else 0


_TOLD = Delivery.objects.filter(message__alerts=OuterRef("pk"))


@transaction.atomic
def _tell(untold: QuerySet[Alert], now: datetime) -> int:
    wanted = routed(list(untold.select_for_update(skip_locked=True)))
    alerts = [alert for alert, _, _ in wanted]
    links = Message.alerts.through.objects.filter(alert__in=alerts, message__kind="alert")
    written = {link.alert_id: link.message for link in links.select_related("message")}
    again = []
    for alert, ways, fallback in wanted:
        if alert.pk in written:
            message = written[alert.pk]
            message.fallback = fallback
            again.append((message, ways))
    Message.objects.bulk_update([message for message, _ in again], ["fallback"])
    write_deliveries(again, now=now)
    write_messages([alert for alert in alerts if alert.pk not in written], now=now)
    return Alert.objects.filter(Exists(_TOLD), pk__in=[alert.pk for alert in alerts]).count()
