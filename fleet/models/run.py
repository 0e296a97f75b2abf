"""Runs of periodic jobs: health is a row that each job writes, never a question to the broker."""

from __future__ import annotations

from django.db import models


class JobRun(models.Model):
    """The last run of a periodic job (one row per name and shard)."""

    name = models.CharField(max_length=60)
    shard = models.CharField(max_length=120, blank=True, default="")
    now = models.DateTimeField()  # the `now` that the run was given
    started_at = models.DateTimeField()  # by the real clock
    seconds = models.FloatField(null=True)
    ok_at = models.DateTimeField(null=True)  # `now` of the last run that went well
    result = models.JSONField(default=dict)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.TextField(blank=True)
    failures = models.IntegerField(default=0)  # in a row

    class Meta:
        """One row per job and shard."""

        constraints = [models.UniqueConstraint(fields=["name", "shard"], name="job_run_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.shard}"
