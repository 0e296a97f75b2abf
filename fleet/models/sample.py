"""Samples: one row per GPU-hour with twelve records of fixed size, in monthly partitions (docs/adr on the layout)."""

from __future__ import annotations

from django.db import models


class SampleHour(models.Model):
    """Twelve samples of one GPU.

    ``data`` is `fleet.domain.packing.RECORD` x 12, the sample at ``hour`` + 5 min first.

    The table is partitioned by ``hour``; `fleet.queries.samples` and `fleet.actions.samples` are its only readers and
    writers. There is no foreign key: a partition is dropped as a whole, and nothing else removes rows.
    """

    pk = models.CompositePrimaryKey("gpu_id", "hour")
    gpu_id = models.BigIntegerField()
    hour = models.DateTimeField()
    data = models.BinaryField()

    def __str__(self) -> str:
        return f"{self.gpu_id} {self.hour}"
