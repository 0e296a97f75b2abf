"""Telemetry endpoints, what each pull brought, the scrape targets behind them, what was dropped."""

from __future__ import annotations

from django.db import models


class Source(models.Model):
    """A telemetry endpoint. ``spec`` holds url, auth references, selector, scrape_interval, max_age, covers."""

    name = models.CharField(max_length=120, unique=True)
    kind = models.CharField(max_length=20)  # prometheus, activity
    spec = models.JSONField(default=dict)
    is_enabled = models.BooleanField(default=True)
    declared = models.JSONField(null=True, blank=True)
    collected_until = models.DateTimeField(null=True, blank=True)  # last mark with a complete answer

    def __str__(self) -> str:
        return self.name


class SourcePull(models.Model):
    """One pull of one source: a row of data health. ``error_code`` is empty when it went well."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="pulls")
    at = models.DateTimeField()  # the clock's time of the pull
    since = models.DateTimeField()
    until = models.DateTimeField()
    gpus = models.IntegerField(default=0)
    samples = models.BigIntegerField(default=0)
    coverage_pct = models.FloatField(null=True)
    is_partial = models.BooleanField(default=False)
    warnings = models.JSONField(default=list)
    bad_samples = models.JSONField(default=dict)
    seconds = models.FloatField(default=0)
    error_code = models.CharField(max_length=60, blank=True)
    error_message = models.TextField(blank=True)
    error_hint = models.TextField(blank=True)

    class Meta:
        """Read newest first per source."""

        indexes = [models.Index(fields=["source", "-at"])]

    def __str__(self) -> str:
        return f"{self.source_id} {self.at}"


class Target(models.Model):
    """A scrape target (job, instance label): its learned interval, and `up` with the time since when."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="targets")
    name = models.CharField(max_length=300)  # "job/instance"; "" when the series carry neither
    interval_seconds = models.IntegerField(null=True)
    interval_learned_at = models.DateTimeField(null=True)
    gaps = models.JSONField(default=dict)  # what the interval was learned from
    is_up = models.BooleanField(null=True)  # None: the source has no `up` series for it
    changed_at = models.DateTimeField(null=True)
    hides_owner = models.BooleanField(default=False)  # honor_labels=false: pod, namespace are the exporter's own

    class Meta:
        """A target is known once per source."""

        constraints = [models.UniqueConstraint(fields=["source", "name"], name="target_once")]

    def __str__(self) -> str:
        return self.name


class BadSample(models.Model):
    """Dropped values, counted by source, signal, kind and day: data quality, never arithmetic."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE)
    day = models.DateField()
    kind = models.CharField(max_length=40)
    signal = models.CharField(max_length=40)
    count = models.BigIntegerField(default=0)

    class Meta:
        """One counter each."""

        constraints = [models.UniqueConstraint(fields=["source", "day", "kind", "signal"], name="bad_sample_once")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.count}"
