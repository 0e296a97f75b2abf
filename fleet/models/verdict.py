"""Verdicts, kept as intervals written on change; and the clock that lets the next pass go on from the last."""

from __future__ import annotations

from django.db import models


class Subject(models.TextChoices):
    """What a verdict or finding is about."""

    GPU = "gpu"
    JOB = "job"
    INSTANCE = "instance"
    SOURCE = "source"
    TARGET = "target"
    HOST = "host"


class Verdict(models.Model):
    """A run of one (state, reason) of one subject: half-open, the current one has no end.

    ``subject_id`` is the row id of Gpu, Job or Instance. ``evidence`` holds window, peaks, coverage, points of the
    moment it was written, copied, because samples go and disputes come later.
    """

    subject_kind = models.CharField(max_length=10, choices=Subject.choices)
    subject_id = models.BigIntegerField()
    start = models.DateTimeField()
    end = models.DateTimeField(null=True)
    state = models.CharField(max_length=12)
    reason = models.CharField(max_length=40)
    since = models.DateTimeField(null=True)  # of the idle run
    confidence = models.CharField(max_length=8, blank=True)
    policy = models.CharField(max_length=120, blank=True)
    policy_version = models.IntegerField(null=True)
    evidence = models.JSONField(default=dict)

    class Meta:
        """One verdict at a time."""

        constraints = [
            models.UniqueConstraint(
                fields=["subject_kind", "subject_id"], condition=models.Q(end__isnull=True), name="one_current_verdict"
            )
        ]
        indexes = [models.Index(fields=["subject_kind", "subject_id", "start"])]

    def __str__(self) -> str:
        return f"{self.subject_kind} {self.subject_id}: {self.state}"


class GpuClock(models.Model):
    """Where the fold over the samples of a block of GPUs stands under one rule, so that a pass reads only what is new.

    ``rule_key`` is a digest of the rule's numbers; ``shard`` is GPU id // SHARD. ``gpu_ids`` are int64, ``carry`` the
    rows of `fleet.domain.carry.Carry` beside them, ``checksum`` int64: the points that each fold saw in the rule's
    reach before ``mark``, by which samples that came late are noticed. Blocks of bytes, since all of them are read and
    written in every pass. It is a cache: without it everything is read from samples again.
    """

    SHARD = 4096

    rule_key = models.CharField(max_length=64)
    lane = models.CharField(max_length=8, blank=True, default="")  # replay: behind what was back-filled
    shard = models.IntegerField()
    mark = models.DateTimeField()
    gpu_ids = models.BinaryField()
    carry = models.BinaryField()
    checksum = models.BinaryField()

    class Meta:
        """One block per rule, lane and shard."""

        constraints = [models.UniqueConstraint(fields=["rule_key", "lane", "shard"], name="gpu_clock_once")]

    def __str__(self) -> str:
        return f"{self.rule_key} {self.shard} at {self.mark}"
