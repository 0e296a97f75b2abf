"""GPU-hours: what every GPU did in an hour, for whom. Time here, money in `billing.GpuHourCost` with the same key."""

from __future__ import annotations

from django.db import models


class GpuHour(models.Model):
    """(hour, instance, GPU, share): milliseconds per state, whole numbers, so that sums are exact.

    A share is the run of one (job, owner, team) in that hour; jobs that hold one GPU together share its time
    equally. The shares of a device's hour sum to 3,600,000 ms, in the hour that is going on to what has passed of
    it. MIG slices count as their part of the device. ``gpu_ref`` is the row id of Gpu, or 0 for the devices of an
    instance that no telemetry showed: their time stands in one row together (n devices: n x 3,600,000). ``stopped``
    is time in which the instance did not run.

    ``part_start_minute`` is 0, but for the second part of an hour that the organisation's midnight cuts (zones with
    a half-hour offset): there it is the minute of the cut.

    The table is partitioned by month of ``hour`` (migration, `common.partitions`). References have no constraint in
    the database: checks for each of millions of rows cost more than the rows.
    """

    pk = models.CompositePrimaryKey("hour", "instance_id", "gpu_ref", "share")
    hour = models.DateTimeField()
    instance = models.ForeignKey(
        "fleet.Instance", on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    gpu_ref = models.BigIntegerField(default=0)
    share = models.SmallIntegerField(default=0)  # number of the share within the GPU's hour
    part_start_minute = models.SmallIntegerField(default=0)
    job = models.ForeignKey(
        "fleet.Job", null=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False, db_index=False
    )
    team = models.ForeignKey(
        "people.Team", null=True, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    owner = models.CharField(max_length=254, blank=True)
    gpu_model = models.CharField(max_length=120, blank=True)
    working_ms = models.BigIntegerField(default=0)  # without low
    low_ms = models.BigIntegerField(default=0)
    held_ms = models.BigIntegerField(default=0)
    empty_ms = models.BigIntegerField(default=0)
    unknown_ms = models.BigIntegerField(default=0)
    stopped_ms = models.BigIntegerField(default=0)

    class Meta:
        """Read by hour, by GPU and by job."""

        indexes = [
            models.Index(fields=["instance", "hour"], name="gpu_hour_of_instance"),
            models.Index(fields=["job"], name="gpu_hour_of_job", condition=models.Q(job__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.instance_id}/{self.gpu_ref} {self.hour}"


class ChangedHour(models.Model):
    """An (instance, hour) whose samples, states, owners or idle episodes changed since it was metered."""

    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()

    class Meta:
        """Marked once."""

        constraints = [models.UniqueConstraint(fields=["instance", "hour"], name="changed_hour_once")]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.hour}"


class RemeteredHour(models.Model):
    """An (instance, hour) whose GPU-hours or prices changed since it was priced: what `meter` leaves for billing."""

    instance = models.ForeignKey("fleet.Instance", on_delete=models.CASCADE, related_name="+")
    hour = models.DateTimeField()

    class Meta:
        """Marked once."""

        constraints = [models.UniqueConstraint(fields=["instance", "hour"], name="remetered_hour_once")]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.hour}"


class MeteredSpan(models.Model):
    """How far an instance is metered: every hour that overlaps [start, until) has its rows as of ``until``.

    So a pass finds what is missing without reading the hours, and one that was killed goes on where it was.
    """

    instance = models.OneToOneField("fleet.Instance", on_delete=models.CASCADE, related_name="metered_span")
    start = models.DateTimeField()
    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.instance_id} until {self.until}"
