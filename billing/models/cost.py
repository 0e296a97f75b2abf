"""Provisional cost (metered x price) until billed, and the daily totals that pages read."""

from __future__ import annotations

from django.db import models


class GpuHourCost(models.Model):
    """The money of one `fleet.GpuHour` row (same key), split by state; null amounts are unpriced.

    The amounts of all shares of an instance-hour sum exactly to price x running time.
    """

    hour = models.DateTimeField()
    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    gpu = models.ForeignKey("fleet.Gpu", null=True, on_delete=models.CASCADE, related_name="+")
    share = models.SmallIntegerField(default=0)
    currency = models.CharField(max_length=3)
    is_priced = models.BooleanField(default=True)
    working = models.DecimalField(max_digits=38, decimal_places=18, null=True)
    low = models.DecimalField(max_digits=38, decimal_places=18, null=True)
    held = models.DecimalField(max_digits=38, decimal_places=18, null=True)
    empty = models.DecimalField(max_digits=38, decimal_places=18, null=True)
    unknown = models.DecimalField(max_digits=38, decimal_places=18, null=True)
    stopped = models.DecimalField(max_digits=38, decimal_places=18, null=True)  # billed while stopped (stopped_billed)

    class Meta:
        """Same key as GpuHour."""

        constraints = [
            models.UniqueConstraint(
                fields=["hour", "instance", "gpu", "share"], nulls_distinct=False, name="gpu_hour_cost_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.gpu_id} {self.hour}"


class InstanceHourCost(models.Model):
    """What an instance costs beside compute in an hour: storage, network, other. ``kind`` names it."""

    hour = models.DateTimeField()
    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey("people.Team", null=True, on_delete=models.PROTECT, related_name="+")
    owner = models.CharField(max_length=254, blank=True)
    kind = models.CharField(max_length=10)  # storage, network, other
    currency = models.CharField(max_length=3)
    amount = models.DecimalField(max_digits=38, decimal_places=18, null=True)  # null: unpriced

    class Meta:
        """One row per kind."""

        constraints = [models.UniqueConstraint(fields=["hour", "instance", "kind"], name="instance_hour_cost_once")]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.hour} {self.kind}"


class TeamDay(models.Model):
    """A team's local day per account, GPU model and currency: money and GPU-minutes by state. Kept for ever.

    ``team`` null is Unassigned. Pages of teams and the overview read only this table.
    """

    day = models.DateField()
    team = models.ForeignKey("people.Team", null=True, on_delete=models.PROTECT, related_name="+")
    account = models.ForeignKey("fleet.Account", null=True, on_delete=models.CASCADE, related_name="+")
    gpu_model = models.CharField(max_length=120, blank=True)
    currency = models.CharField(max_length=3)
    compute_working = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    compute_low = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    compute_held = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    compute_empty = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    compute_unknown = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    compute_stopped = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    storage = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    network = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    other = models.DecimalField(max_digits=38, decimal_places=18, default=0)
    minutes_working = models.FloatField(default=0)
    minutes_low = models.FloatField(default=0)
    minutes_held = models.FloatField(default=0)
    minutes_empty = models.FloatField(default=0)
    minutes_unknown = models.FloatField(default=0)
    minutes_unpriced = models.FloatField(default=0)  # of the above, without a price

    class Meta:
        """One row per cell."""

        constraints = [
            models.UniqueConstraint(
                fields=["day", "team", "account", "gpu_model", "currency"], nulls_distinct=False, name="team_day_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.team_id} {self.day}"
