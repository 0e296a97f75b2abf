"""The outbox: a message, its deliveries per channel and address, and every attempt."""

from __future__ import annotations

import uuid

from django.db import models


class Message(models.Model):
    """Something to say once. ``key`` is the stable id under which it is sent (Message-ID, Idempotency-Key)."""

    key = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    # notice final_notice alert released cancelled not_confirmed failed resolved digest test
    kind = models.CharField(max_length=16)
    alerts = models.ManyToManyField("alerts.Alert", related_name="messages")
    subject = models.CharField(max_length=420)
    team = models.ForeignKey("people.Team", null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = models.DateTimeField()
    facts = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"{self.kind} {self.subject}"


class Delivery(models.Model):
    """One message to one address over one channel, claimed by a conditional UPDATE; its result needs the token."""

    message = models.ForeignKey(Message, on_delete=models.CASCADE, related_name="deliveries")
    channel = models.ForeignKey("alerts.Channel", on_delete=models.CASCADE, related_name="deliveries")
    to = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=10, default="waiting")  # waiting sent failed dead simulated
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
        indexes = [models.Index(fields=["state", "due_at"])]

    def __str__(self) -> str:
        return f"{self.message_id} to {self.to}"


class Attempt(models.Model):
    """One try of one delivery."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    at = models.DateTimeField()
    outcome = models.CharField(max_length=12)  # accepted, transient, permanent, simulated, unknown
    status = models.CharField(max_length=60, blank=True)
    retry_after = models.FloatField(null=True)
    detail = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"{self.delivery_id} {self.outcome}"
