"""What cards of a model draw while they do nothing."""

from __future__ import annotations

from django.db import models


class PowerBaseline(models.Model):
    """A baseline as it was learned; it stands from ``valid_from`` until the next, the first one also before."""

    model = models.CharField(max_length=120)
    valid_from = models.DateTimeField()
    watts = models.FloatField()
    samples = models.IntegerField()  # how many it was learned from

    class Meta:
        """Learned once at a time."""

        constraints = [models.UniqueConstraint(fields=["model", "valid_from"], name="power_baseline_once")]

    def __str__(self) -> str:
        return f"{self.model} {self.watts} W from {self.valid_from}"
