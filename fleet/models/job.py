"""Workloads that hold GPUs for a time."""

from __future__ import annotations

from django.contrib.postgres.indexes import OpClass
from django.db import models
from django.db.models import Func, Value
from django.db.models.functions import Lower


class Job(models.Model):
    """A workload: a Slurm job (``external_id`` 7312044) or a pod (``external_id`` namespace/pod).

    ``labels``: namespace, pod, container, owner and other labels that ownership rules may match. ``team`` is that of
    now, or of its end; ``team_settled_at`` says when it was told for the last time, after the end.
    """

    source = models.ForeignKey("fleet.Source", null=True, on_delete=models.SET_NULL, related_name="jobs")
    kind = models.CharField(max_length=12)  # slurm, pod
    external_id = models.CharField(max_length=300)
    owner = models.CharField(max_length=254, blank=True)
    labels = models.JSONField(default=dict)
    team = models.ForeignKey(
        "people.Team", null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    team_settled_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        """One row per id and start (a requeue keeps its id)."""

        constraints = [
            models.UniqueConstraint(
                fields=["source", "external_id", "started_at"], nulls_distinct=False, name="job_once"
            )
        ]
        indexes = [
            models.Index(fields=["team", "-id"], name="job_of_team"),
            models.Index(OpClass(Lower("external_id"), "text_pattern_ops"), name="job_begins"),
            models.Index(
                OpClass(Func(Lower("external_id"), Value("/"), Value(2), function="split_part"), "text_pattern_ops"),
                name="job_name_begins",
            ),
        ]

    def __str__(self) -> str:
        return self.external_id
