"""Idle runs by the organisation's rule: what metering calls held or empty."""

from __future__ import annotations

from django.db import models


class IdleRun(models.Model):
    """A run of one GPU being idle: the samples with ``since`` < mark <= ``until``; without an ``until`` it goes on.

    It opens when the verdict becomes idle, back to the idle clock's `since`; it ends before the first busy sample, or
    with a restart.
    """

    gpu = models.ForeignKey("fleet.Gpu", on_delete=models.CASCADE, related_name="idle_runs")
    since = models.DateTimeField()
    until = models.DateTimeField(null=True)

    class Meta:
        """One run per beginning."""

        constraints = [models.UniqueConstraint(fields=["gpu", "since"], name="idle_run_once")]
        indexes = [models.Index(fields=["until", "since"])]

    def __str__(self) -> str:
        return f"{self.gpu_id} from {self.since}"
