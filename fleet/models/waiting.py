"""Instances that are quiet and not idle yet."""

from __future__ import annotations

from django.db import models


class Waiting(models.Model):
    """An instance all of whose GPUs are quiet, but whose window is not full: by the last pass of `judge`.

    ``quiet_since``: end of the last busy sample; ``idle_at``: the mark at which it is idle if it stays as it is.
    Each pass makes the whole table anew.
    """

    instance = models.OneToOneField("fleet.Instance", on_delete=models.CASCADE, primary_key=True, related_name="+")
    quiet_since = models.DateTimeField()
    idle_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.instance_id} at {self.idle_at}"
