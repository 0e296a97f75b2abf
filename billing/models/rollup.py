"""What the hours of a machine and of a job sum to: lists are sorted and totalled over these, never over hours."""

from __future__ import annotations

from django.db import models

from billing.models.cost import total


class MachineDay(models.Model):
    """A machine's local day per job, team, GPU model and currency: money and GPU-milliseconds by state.

    ``job`` null is time that no job held, and what stands beside compute. Lists of machines and of jobs are sorted and
    totalled over this table; team-days are its sums. Kept as long as the hours (25 months).
    """

    day = models.DateField()
    instance = models.ForeignKey(
        "fleet.Instance", on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    job = models.ForeignKey(
        "fleet.Job", null=True, on_delete=models.SET_NULL, related_name="+", db_constraint=False, db_index=False
    )
    team = models.ForeignKey(
        "people.Team", null=True, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    gpu_model = models.CharField(max_length=120, blank=True)
    currency = models.CharField(max_length=3)
    working = total()  # without low
    low = total()
    held = total()
    empty = total()
    unknown = total()
    stopped = total()
    storage = total()
    network = total()
    other = total()
    list_price_amount = total()
    working_ms = models.BigIntegerField(default=0)
    low_ms = models.BigIntegerField(default=0)
    held_ms = models.BigIntegerField(default=0)
    empty_ms = models.BigIntegerField(default=0)
    unknown_ms = models.BigIntegerField(default=0)
    unpriced_ms = models.BigIntegerField(default=0)
    unpriced_disk_hours = models.IntegerField(default=0)

    class Meta:
        """One row per cell; read by day, by machine, by team and by job."""

        constraints = [
            models.UniqueConstraint(
                fields=["day", "instance", "job", "team", "gpu_model", "currency"], nulls_distinct=False,
                name="machine_day_once",
            )
        ]  # fmt: skip
        indexes = [
            models.Index(fields=["instance", "day"], name="machine_day_of_machine"),
            models.Index(fields=["team", "day"], name="machine_day_of_team"),
            models.Index(fields=["job"], name="machine_day_of_job", condition=models.Q(job__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.day}"


class MachineMonth(models.Model):
    """A machine's local month per team and currency: the sum of its machine-days. ``month``: its first day."""

    month = models.DateField()
    instance = models.ForeignKey(
        "fleet.Instance", on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    team = models.ForeignKey(
        "people.Team", null=True, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    currency = models.CharField(max_length=3)
    cost = total()  # compute and what stands beside it
    unpriced_ms = models.BigIntegerField(default=0)
    unpriced_disk_hours = models.IntegerField(default=0)

    class Meta:
        """One row per cell."""

        constraints = [
            models.UniqueConstraint(
                fields=["month", "instance", "team", "currency"], nulls_distinct=False, name="machine_month_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.instance_id} {self.month}"


class JobTotal(models.Model):
    """What a job used and cost over its whole life so far, per team and currency: the sum of its machine-days."""

    job = models.ForeignKey(
        "fleet.Job", on_delete=models.CASCADE, related_name="+", db_constraint=False, db_index=False
    )
    team = models.ForeignKey(
        "people.Team", null=True, on_delete=models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    currency = models.CharField(max_length=3)
    cost = total()
    working_ms = models.BigIntegerField(default=0)
    low_ms = models.BigIntegerField(default=0)
    held_ms = models.BigIntegerField(default=0)
    empty_ms = models.BigIntegerField(default=0)
    unknown_ms = models.BigIntegerField(default=0)
    unpriced_ms = models.BigIntegerField(default=0)

    class Meta:
        """One row per cell."""

        constraints = [
            models.UniqueConstraint(fields=["job", "team", "currency"], nulls_distinct=False, name="job_total_once")
        ]

    def __str__(self) -> str:
        return f"{self.job_id}"
