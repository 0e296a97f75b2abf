"""Shapes of `fleet`'s answers (doors.md, `judge`)."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from rest_framework import serializers

from common.periods import iso
from people.api.shapes import SubjectShape, amount, amounts, flag, mapping, moment, number, one_of, several, text, whole

HourStatesShape = amounts("HourStatesShape", ("working", "low", "held", "empty", "unknown"), null=False)
STATE = "warm_up, working, held, empty, unknown or stopped"


def written(at: datetime | None) -> str | None:
    """Write a time as answers have it."""
    return iso(at) if at else None


class MeasuredShape(serializers.Serializer[Any]):
    """What a verdict rests on, over the policy's window."""

    coverage_pct = number()
    peak_pct = number()
    mean_pct = number()
    signal = text("which signal activity was read from", null=True)


class GpuShape(MeasuredShape):
    """A GPU or MIG slice."""

    uuid = text()
    mig_instance = text(null=True)
    index = whole(null=True)
    model = text(null=True)
    state = text(STATE)
    reason = text(null=True)
    since = moment("idle since", null=True)
    minutes = number("covered minutes; null where only `judge` counts them")
    team = text(null=True)
    owner = text(null=True)
    jobs = several(text(), "ids of the jobs that hold it")


class PlacedGpuShape(GpuShape):
    """A GPU with the machine it is in."""

    instance = text(null=True)
    account = text(null=True)
    host = text(null=True)
    memory_total_mib = whole(null=True)
    first_seen_at = moment()
    last_seen_at = moment()


class JobOnInstanceShape(serializers.Serializer[Any]):
    """A job that holds GPUs of an instance."""

    id = text()
    owner = text(null=True)
    team = text(null=True)
    state = text(STATE, null=True)
    since = moment("idle since", null=True)
    minutes = number("covered minutes of its idle time")
    peak_pct = number()
    mean_pct = number()
    gpus = whole("devices that it holds, on all machines")


class JobShape(JobOnInstanceShape):
    """A job; `gpus` of one that ended are all that it ever held."""

    source = text("the telemetry source that tells of it", null=True)
    kind = text("slurm or pod")
    started_at = moment()
    ended_at = moment(null=True)
    advice = mapping("what its low utilisation was seen by; null without such a finding", null=True)
    machines = whole("on how many its GPUs are, or were")
    gpu_hours = one_of(HourStatesShape, "over its life, as far as hours are metered")
    cost = mapping("by currency, of the same hours; what has no price is in none", of=amount())
    has_unpriced = flag("some of these hours have no price")


class ExemptShape(serializers.Serializer[Any]):
    """Why policies leave it alone."""

    by = text()
    reason = text()
    until = moment(null=True)


class FindingOnInstanceShape(serializers.Serializer[Any]):
    """A finding about an instance, or about a GPU or job of it."""

    kind = text()
    since = moment()
    minutes = number()
    evidence = mapping()


class FindingShape(FindingOnInstanceShape):
    """A finding: one for each (kind, subject, episode)."""

    id = whole()
    subject = SubjectShape()
    instance = text(null=True)
    team = text(null=True)
    episode = moment("the `since` that it opened with")
    opened_at = moment()
    closed_at = moment(null=True)
    closed_because = text("busy, restarted, stopped or over", null=True)
    reopened = whole()


class InstanceShape(MeasuredShape):
    """An instance with its standing verdict."""

    instance = text()
    account = text("null for a host that no account knows", null=True)
    host = text(null=True)
    provider = text(null=True)
    team = text(null=True)
    owner = text(null=True)
    policy = text(null=True)
    state = text(STATE)
    since = moment("idle since", null=True)
    minutes = number("covered minutes of its idle time")
    reason = text()
    sentence = text()
    confidence = text()
    currency = text(null=True)
    price_per_hour = amount(null=True)
    idle_cost = amount(null=True)
    instance_state = text("running, stopping, stopped, stopped_billed, terminated or gone")
    exempt = ExemptShape(allow_null=True)
    vetoes = several(mapping())
    stopped_but_billed = flag()
    gpus = GpuShape(many=True)
    jobs = JobOnInstanceShape(many=True)
    findings = FindingOnInstanceShape(many=True)
    gpu_model = text(null=True)
    gpu_count = whole(null=True)
    sku = text(null=True)
    region = text(null=True)
    month_cost = mapping("by currency, of this month in the organisation's zone; provisional", of=amount())
    month_has_unpriced = flag("some of the month has no price")
    used_pct = number("working or low, of the GPU-hours that were seen in seven days")


class VerdictShape(MeasuredShape):
    """A verdict in a record."""

    state = text(STATE)
    reason = text()
    sentence = text()
    since = moment(null=True)
    minutes = number()
    confidence = text(null=True)
    currency = text(null=True)
    price_per_hour = amount(null=True)
    idle_cost = amount(null=True)
    instance_state = text()


class NextShape(serializers.Serializer[Any]):
    """What happens next, and when at the earliest."""

    what = text()
    at = moment(null=True)
    sentence = text()


class RecordShape(serializers.Serializer[Any]):
    """The decision record of an instance, made anew from samples."""

    instance = text()
    account = text(null=True)
    host = text(null=True)
    team = text(null=True)
    owner = text(null=True)
    at = moment()
    verdict = VerdictShape()
    evidence = mapping("the window, and every sample of it by GPU")
    policy = mapping("every number of the rule, with where it comes from")
    exemptions = several(mapping())
    vetoes = several(mapping())
    findings = FindingOnInstanceShape(many=True)
    jobs = JobOnInstanceShape(many=True)
    release = mapping(null=True)
    next = NextShape(many=True)


class SourceShape(serializers.Serializer[Any]):
    """A telemetry source and its health. What tells of the whole fleet is null for those who see some teams only."""

    name = text()
    state = text("ok, late, failing or waiting")
    collected_until = moment("the newest mark with a complete answer", null=True)
    age_minutes = number()
    gpus = whole(null=True)
    coverage_pct = number()
    error = mapping(null=True)
