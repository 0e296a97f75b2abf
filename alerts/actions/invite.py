"""Mail an invitation over the outbox, when there is a channel that reaches any address."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings

from alerts.models import Channel, Delivery, Message
from alerts.queries.adapters import adapter
from common.errors import FleetledgerError
from people.queries import is_replaying

TOPIC = "invitation"


def mail_invitation(*, email: str, invitation_id: int, now: datetime) -> bool:
    """Write the message and its one delivery; False when no mail would leave: then the link has to be handed over.

    The message holds the invitation's number, never its link: that is written when the mail is sent.
    """
    channel = _mail_channel()
    if channel is None or settings.IS_DEMO or is_replaying():
        return False
    message = Message.objects.create(
        kind=TOPIC, topic=TOPIC, subject=email, created_at=now, facts={"invitation": invitation_id}
    )
    Delivery.objects.create(message=message, channel=channel, to=email, first_due=now, due_at=now)
    return True


def _mail_channel() -> Channel | None:
    """Give a channel that mails whom it is told to; one with fixed addresses would hand the link to others."""
    for channel in Channel.objects.filter(kind="email", broken_at=None).order_by("pk"):
        try:
            one = adapter(channel)
            one.check()
        except FleetledgerError:
            continue
        if one.addresses() is None:
            return channel
    return None
