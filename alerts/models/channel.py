"""Channels reach people; routes say which message goes where."""

from __future__ import annotations

from django.db import models


class Channel(models.Model):
    """A way to tell somebody. ``spec`` holds secret references, addresses and switches as declared (doors.md)."""

    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=20)  # slack_webhook, email, webhook
    spec = models.JSONField(default=dict)
    declared = models.JSONField(null=True, blank=True)
    broken_at = models.DateTimeField(null=True, blank=True)  # a permanent error: nothing goes out until mended
    broken_reason = models.TextField(blank=True)
    not_before = models.DateTimeField(null=True, blank=True)  # the other side asked to wait
    refusals = models.IntegerField(default=0)  # permanent refusals of single messages, in a row
    failing_since = models.DateTimeField(null=True, blank=True)  # first of the failures in a row

    def __str__(self) -> str:
        return self.name


class Route(models.Model):
    """One route, in order; the first that matches a message takes it."""

    position = models.IntegerField(unique=True)
    match = models.JSONField(default=dict)  # teams, kinds
    channels = models.JSONField(default=list)  # names
    fallback = models.JSONField(default=list)
    declared = models.JSONField(null=True, blank=True)

    class Meta:
        """Read in order."""

        ordering = ["position"]

    def __str__(self) -> str:
        return f"route {self.position}"
