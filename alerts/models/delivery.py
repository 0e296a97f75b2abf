"""The outbox: a message, its deliveries per channel and address, and every attempt."""

from __future__ import annotations

import uuid

from django.db import models


class Message(models.Model):
    """Something to say once. ``key`` is the stable id under which it is sent (Message-ID, Idempotency-Key)."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # notice final_notice alert released cancelled not_confirmed failed resolved digest test
    kind = models.CharField(max_length=16)
    topic = models.CharField(max_length=30)  # the alert's kind: a word of routes.kinds
    alerts = models.ManyToManyField("alerts.Alert", related_name="messages")
    subject = models.CharField(max_length=420)
    team = models.ForeignKey("people.Team", null=True, on_delete=models.SET_NULL, related_name="+")
    owner = models.CharField(max_length=254, blank=True)
    created_at = models.DateTimeField(db_index=True)
    facts = models.JSONField(default=dict)
    fallback = models.JSONField(default=list)  # names of the channels that are told when a delivery fails

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class DeliveryState(models.TextChoices):
    """A delivery waits until it is over: accepted, refused for good, out of time, or only simulated."""

    WAITING = "waiting"
    SENT = "sent"
    FAILED = "failed"
    DEAD = "dead"
    SIMULATED = "simulated"


class Delivery(models.Model):
    """One message to one address over one channel. Claimed under a lock; the result needs the claim's token."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey("alerts.Channel", on_delete=models.CASCADE, related_name="deliveries")
    to = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=10, choices=DeliveryState.choices, default=DeliveryState.WAITING)
    first_due = models.DateTimeField()
    due_at = models.DateTimeField()
    is_fallback = models.BooleanField(default=False)
    claim = models.UUIDField(null=True)
    claimed_at = models.DateTimeField(null=True)
    delivered_at = models.DateTimeField(null=True)
    tries = models.IntegerField(default=0)
    doubles = models.IntegerField(default=0)  # resent after a death between acceptance and record

    class Meta:
        """A message goes to an address once per channel."""

        constraints = [models.UniqueConstraint(fields=["message", "channel", "to"], name="delivery_once")]
        indexes = [
            models.Index(fields=["channel", "due_at"], condition=models.Q(state="waiting"), name="delivery_waiting"),
        ]

    def __str__(self) -> str:
        return f"{self.message_id} to {self.to}"


class Attempt(models.Model):
    """One try of one delivery. ``status`` is their code (HTTP, SMTP); ``detail`` our word or a short code of theirs."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    at = models.DateTimeField()
    outcome = models.CharField(max_length=12)  # accepted, transient, permanent, simulated, unknown
    status = models.IntegerField(null=True)
    retry_after = models.FloatField(null=True)  # seconds
    detail = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"{self.delivery_id} {self.outcome}"
