"""This installation: who it is, which clock it follows, how far its world has come."""

from __future__ import annotations

import uuid

from django.db import models


class ClockMode(models.TextChoices):
    """`replay` from the first replay on until `go_live`; beat sleeps meanwhile."""

    LIVE = "live"
    REPLAY = "replay"


class Installation(models.Model):
    """One row (pk 1). ``world_at`` is the latest `now` of any tick, replay or periodic job."""

    name = models.UUIDField(default=uuid.uuid4, editable=False)
    clock = models.CharField(max_length=8, choices=ClockMode.choices, default=ClockMode.LIVE)
    world_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        """There is one installation per database."""

        constraints = [models.CheckConstraint(condition=models.Q(pk=1), name="one_installation")]

    def __str__(self) -> str:
        return str(self.name)
