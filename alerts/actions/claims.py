"""Claim one delivery at a time, and write what became of it: the claim and its token make a send single."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F

from alerts.actions.channels import break_channel, note_failure, note_success
from alerts.actions.outbox import tell_fallback, tell_next_readers
from alerts.domain.backoff import LIFE, next_try
from alerts.domain.ports import Accepted, ChannelError
from alerts.models import Attempt, Channel, Delivery
from alerts.models.delivery import DeliveryState
from alerts.queries.outbox import free, waiting

MOST_REFUSALS = 3
"""So many messages refused in a row, and the channel counts as broken."""


@dataclass(frozen=True)
class Claim:
    """A delivery that is ours to send until the claim grows old."""

    delivery: Delivery
    token: uuid.UUID
    at: datetime


@transaction.atomic
def claim_next(channel: Channel, *, seconds_between: float, at: datetime) -> Claim | None:
    """Claim the delivery of ``channel`` that has waited longest; None: nothing is due, or it may not be called.

    A channel that wants a rest between sends gets it across all workers: taking its next slot is part of the claim.
    """
    row = Channel.objects.select_for_update().get(pk=channel.pk)
    if row.broken_at or (row.not_before and row.not_before > at):
        return None
    delivery = (
        waiting()
        .filter(free(at), channel=channel, due_at__lte=at)
        .select_related("message__team")
        .select_for_update(skip_locked=True, of=("self",))
        .order_by("due_at", "pk")
        .first()
    )
    if delivery is None:
        return None
    if delivery.claimed_at is not None:
        _note_death(delivery, claimed_at=delivery.claimed_at)
    token = uuid.uuid4()
    Delivery.objects.filter(pk=delivery.pk).update(claim=token, claimed_at=at, tries=F("tries") + 1)
    if seconds_between:
        Channel.objects.filter(pk=channel.pk).update(not_before=at + timedelta(seconds=seconds_between))
    delivery.tries += 1
    return Claim(delivery, token, at)


def _note_death(delivery: Delivery, *, claimed_at: datetime) -> None:
    """Whoever claimed it died before the record: the message may have arrived, so this send may be a second one."""
    Attempt.objects.create(delivery=delivery, at=claimed_at, outcome="unknown", detail="process_died")
    Delivery.objects.filter(pk=delivery.pk).update(doubles=F("doubles") + 1)


@transaction.atomic
def record(claim: Claim, outcome: Accepted | ChannelError, *, at: datetime) -> bool:
    """Write what became of a claimed delivery; give whether the channel may be called again in this pass.

    When the claim was taken over meanwhile (we hung), the attempt is still written; an acceptance counts as a double.
    """
    if isinstance(outcome, Accepted):
        return _accepted(claim, outcome, at)
    kind = "unknown" if outcome.unknown else "permanent" if outcome.permanent else "transient"
    Attempt.objects.create(
        delivery=claim.delivery, at=at, outcome=kind, status=outcome.status, retry_after=outcome.retry_after,
        detail=outcome.detail,
    )  # fmt: skip
    return _refused(claim, outcome, at) if outcome.permanent else _postponed(claim, outcome, at)


def _mine(claim: Claim, **values: object) -> bool:
    """Change the delivery only while the claim is ours."""
    ours = Delivery.objects.filter(pk=claim.delivery.pk, claim=claim.token)
    return bool(ours.update(claim=None, claimed_at=None, **values))


def _accepted(claim: Claim, outcome: Accepted, at: datetime) -> bool:
    Attempt.objects.create(delivery=claim.delivery, at=at, outcome="accepted", status=outcome.status)
    if not _mine(claim, state=DeliveryState.SENT, delivered_at=at):
        Delivery.objects.filter(pk=claim.delivery.pk).update(doubles=F("doubles") + 1)
    note_success(claim.delivery.channel_id, now=at)
    return True


def _refused(claim: Claim, error: ChannelError, at: datetime) -> bool:
    told = tell_fallback(claim.delivery.message, now=at) if _mine(claim, state=DeliveryState.FAILED) else 1
    if error.about == "address":
        if not told:
            tell_next_readers(claim.delivery, now=at)
        return True
    channel_id = claim.delivery.channel_id
    Channel.objects.filter(pk=channel_id).update(refusals=F("refusals") + 1)
    if error.about == "message" and Channel.objects.get(pk=channel_id).refusals < MOST_REFUSALS:
        return True
    break_channel(channel_id, reason=" ".join(str(part) for part in (error.status, error.detail) if part), now=at)
    return False


def _postponed(claim: Claim, error: ChannelError, at: datetime) -> bool:
    delivery = claim.delivery
    due = next_try(tries=delivery.tries, first_due=delivery.first_due, now=at, retry_after=error.retry_after)
    if due is None:
        if _mine(claim, state=DeliveryState.DEAD):
            tell_fallback(delivery.message, now=at)
    else:
        _mine(claim, due_at=due, doubles=F("doubles") + (1 if error.unknown else 0))
    if error.about != "channel":
        return True
    note_failure(delivery.channel_id, retry_after=error.retry_after, now=at)
    return False


@transaction.atomic
def expire(*, now: datetime) -> int:
    """End what had its life (24 h) and could not be sent; the fallback is told. Give how many."""
    old = waiting().filter(free(now), first_due__lte=now - LIFE).filter(channel__failing_since__isnull=False)
    rows = list(old.select_related("message").select_for_update(skip_locked=True, of=("self",)))
    Delivery.objects.filter(pk__in=[row.pk for row in rows]).update(state=DeliveryState.DEAD, claim=None)
    for row in rows:
        tell_fallback(row.message, now=now)
    return len(rows)
