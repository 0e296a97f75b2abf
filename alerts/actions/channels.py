"""What a channel does to our trust in it: it fails for a while, it breaks, it is mended."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.db import transaction

from alerts.actions.alerts import raise_alerts, resolve_alerts
from alerts.actions.outbox import tell_fallback, tell_others
from alerts.domain.backoff import TELL_AFTER, pause_of_channel
from alerts.domain.occurrence import Occurrence
from alerts.models import Alert, Channel, Delivery
from alerts.models.alert import RESOLVED
from alerts.models.delivery import DeliveryState
from common.periods import iso
from people.actions.audit import SYSTEM, record

RULE = "channel"


@transaction.atomic
def break_channel(channel_id: int, *, reason: str, now: datetime) -> bool:
    """Nothing goes out over the channel until it is mended; its fallback and the other channels are told. Once.

    ``reason`` is a status and a short code, never an address.
    """
    broken = Channel.objects.filter(pk=channel_id, broken_at__isnull=True)
    if not broken.update(broken_at=now, broken_reason=reason):
        return False
    channel = Channel.objects.get(pk=channel_id)
    record(now=now, by=SYSTEM, action="channel_broken", subject_kind="channel", subject=channel.name, reason=reason)
    stuck = Delivery.objects.filter(channel=channel, state=DeliveryState.WAITING, claim__isnull=True)
    rows = list(stuck.select_related("message").select_for_update(of=("self",)))
    Delivery.objects.filter(pk__in=[row.pk for row in rows]).update(state=DeliveryState.FAILED)
    for row in rows:
        tell_fallback(row.message, now=now)
    resolve_alerts(rule=RULE, subject_kind="channel", subjects=[channel.name], now=now)  # "failing" has become "broken"
    _tell(channel, "channel_broken", reason, since=now, now=now)
    return True


@transaction.atomic
def note_failure(channel_id: int, *, retry_after: float | None, now: datetime) -> None:
    """Leave the channel alone for a while; after an hour of failures the others are told."""
    channel = Channel.objects.select_for_update().get(pk=channel_id)
    since = channel.failing_since or now
    pause = pause_of_channel(failing_since=since, now=now, retry_after=retry_after)
    channel.failing_since, channel.not_before = since, max(now + pause, channel.not_before or now)
    channel.save(update_fields=["failing_since", "not_before"])
    if now - since >= TELL_AFTER:
        _tell(channel, "channel_failing", "", since=since, now=now)


def note_success(channel_id: int, *, now: datetime) -> None:
    """It works: forget its failures; who was told of them is told that it is back."""
    channel = Channel.objects.get(pk=channel_id)
    if channel.failing_since is None and not channel.refusals:
        return
    Channel.objects.filter(pk=channel_id).update(failing_since=None, refusals=0)
    resolve_alerts(rule=RULE, subject_kind="channel", subjects=[channel.name], now=now)


@transaction.atomic
def mend_channels(names: Collection[str], *, now: datetime, by: str) -> int:
    """Trust broken channels again (declared anew, tested by hand); give how many. What failed stays failed."""
    broken = Channel.objects.filter(name__in=names, broken_at__isnull=False)
    mended = sorted(broken.values_list("name", flat=True))
    broken.update(broken_at=None, broken_reason="", not_before=None, refusals=0, failing_since=None)
    for name in mended:
        record(now=now, by=by, action="channel_mended", subject_kind="channel", subject=name)
    resolve_alerts(rule=RULE, subject_kind="channel", subjects=mended, now=now)
    return len(mended)


def _tell(channel: Channel, code: str, reason: str, *, since: datetime, now: datetime) -> None:
    facts = {"channel": channel.name, "code": code, "reason": reason, "since": iso(since), "link": "/"}
    opened = raise_alerts(
        [
            Occurrence(
                rule=RULE, kind="channel", subject_kind="channel", subject=channel.name, account="", team_id=None,
                owner="", episode=f"{code} {iso(since)}", facts=facts,
            )
        ],
        now=now,
    )  # fmt: skip
    if not opened:
        return
    alert = Alert.objects.exclude(state=RESOLVED).get(rule=RULE, subject_kind="channel", subject=channel.name)
    if not Delivery.objects.filter(message__alerts=alert, state=DeliveryState.WAITING).exists():
        tell_others(alert, now=now)
