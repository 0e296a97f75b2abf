"""Devices: identity is (UUID, MIG instance), never (host, index); where each stood and who used it, over time."""

from __future__ import annotations

from django.db import models


class Gpu(models.Model):
    """A GPU or MIG slice. ``uuid`` is `GPU-` and lower-case hex; ``mig_instance`` is GPU_I_ID, empty for a device."""

    uuid = models.CharField(max_length=120)
    mig_instance = models.CharField(max_length=20, blank=True, default="")
    index = models.IntegerField(null=True)
    model = models.CharField(max_length=120, blank=True)  # normalised: H100-SXM5-80GB style where known
    vendor = models.CharField(max_length=20, default="nvidia")
    memory_total_mib = models.IntegerField(null=True)
    power_limit_watts = models.FloatField(null=True)
    host = models.CharField(max_length=300, blank=True, db_index=True)  # lower case, now
    instance = models.ForeignKey("fleet.Instance", null=True, on_delete=models.SET_NULL, related_name="gpus")  # now
    source = models.ForeignKey("fleet.Source", null=True, on_delete=models.SET_NULL, related_name="gpus")  # preferred
    target = models.ForeignKey("fleet.Target", null=True, on_delete=models.SET_NULL, related_name="gpus")  # now
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()  # newest raw point

    class Meta:
        """One row per identity."""

        constraints = [models.UniqueConstraint(fields=["uuid", "mig_instance"], name="gpu_once")]

    def __str__(self) -> str:
        return f"{self.uuid}/{self.mig_instance}" if self.mig_instance else self.uuid


class GpuPlacement(models.Model):
    """A run of one GPU on one host and instance: half-open, the open one has no end."""

    gpu = models.ForeignKey(Gpu, on_delete=models.CASCADE, related_name="placements")
    start = models.DateTimeField()
    end = models.DateTimeField(null=True)
    host = models.CharField(max_length=300, blank=True)
    instance = models.ForeignKey("fleet.Instance", null=True, on_delete=models.CASCADE, related_name="placements")

    class Meta:
        """One run per start."""

        constraints = [models.UniqueConstraint(fields=["gpu", "start"], name="gpu_placement_once")]

    def __str__(self) -> str:
        return f"{self.gpu_id} on {self.host} from {self.start}"


class GpuUse(models.Model):
    """A run of one job on one GPU, from the labels of its series: half-open, the open one has no end.

    Several may overlap (a shared GPU). A GPU with no open use is held by nobody.
    """

    gpu = models.ForeignKey(Gpu, on_delete=models.CASCADE, related_name="uses")
    job = models.ForeignKey("fleet.Job", on_delete=models.CASCADE, related_name="uses")
    start = models.DateTimeField()
    end = models.DateTimeField(null=True)

    class Meta:
        """One run per job and start."""

        constraints = [models.UniqueConstraint(fields=["gpu", "job", "start"], name="gpu_use_once")]

    def __str__(self) -> str:
        return f"{self.gpu_id} by {self.job_id} from {self.start}"
