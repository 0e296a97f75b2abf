"""GPU-hours: what every GPU did in an hour, for whom. Minutes here, money in `billing.GpuHourCost` same key."""

from __future__ import annotations

from django.db import models


class GpuHour(models.Model):
    """(instance, GPU, hour, share): minutes per state; the shares of a GPU's hour sum to 60.

    A share is the run of one (job, owner, team) in that hour. ``gpu`` is null for devices of an instance that no
    telemetry ever showed: their minutes (60 for each) stand in one row. ``stopped`` are minutes in which the instance
    did not run.
    """

    hour = models.DateTimeField()
    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    gpu = models.ForeignKey("fleet.Gpu", null=True, on_delete=models.CASCADE, related_name="+")
    job = models.ForeignKey("fleet.Job", null=True, on_delete=models.SET_NULL, related_name="+")
    team = models.ForeignKey("people.Team", null=True, on_delete=models.PROTECT, related_name="+")
    owner = models.CharField(max_length=254, blank=True)
    share = models.SmallIntegerField(default=0)  # number of the share within the GPU's hour
    gpu_model = models.CharField(max_length=120, blank=True)
    working = models.FloatField(default=0)  # minutes, without low
    low = models.FloatField(default=0)
    held = models.FloatField(default=0)
    empty = models.FloatField(default=0)
    unknown = models.FloatField(default=0)
    stopped = models.FloatField(default=0)

    class Meta:
        """One row per share."""

        constraints = [
            models.UniqueConstraint(
                fields=["hour", "instance", "gpu", "share"], nulls_distinct=False, name="gpu_hour_once"
            )
        ]
        indexes = [models.Index(fields=["team", "hour"]), models.Index(fields=["gpu", "hour"])]

    def __str__(self) -> str:
        return f"{self.gpu_id} {self.hour}"


class ChangedHour(models.Model):
    """An (instance, hour) whose samples, states, owners or idle episodes changed since it was metered."""

    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()

    class Meta:
        """Marked once."""

        constraints = [models.UniqueConstraint(fields=["instance", "hour"], name="changed_hour_once")]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.hour}"
