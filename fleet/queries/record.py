"""One instance with all that stands behind its verdict: what the record page shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from fleet.models import Finding, Gpu, Instance, InstanceState, Verdict
from fleet.queries.standing import instance_path
from people.roles import TeamChoice

HISTORY = 20


@dataclass(frozen=True)
class Judged:
    """A verdict as it was written: half-open, the current one has no end."""

    state: str
    reason: str
    start: datetime
    end: datetime | None
    since: datetime | None
    confidence: str
    policy: str
    policy_version: int | None
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class GpuNow:
    """A device of the instance and its current verdict (None: never judged)."""

    id: int
    name: str
    index: int | None
    model: str
    last_seen_at: datetime
    verdict: Judged | None


@dataclass(frozen=True)
class Seen:
    """A finding about the instance or one of its GPUs or jobs."""

    kind: str
    subject: str
    since: datetime
    opened_at: datetime
    closed_at: datetime | None
    evidence: Mapping[str, Any]


@dataclass(frozen=True)
class Record:
    """``attributes`` are the current ones; ``states`` are the provider's word, newest first."""

    id: int
    account: str | None
    provider: str
    external_id: str
    host: str
    team_id: int | None
    gpu_count: int | None
    attributes: Mapping[str, Any]
    provider_state: str
    launched_at: datetime | None
    last_started_at: datetime | None
    first_seen_at: datetime | None
    verdict: Judged | None
    history: list[Judged]
    gpus: list[GpuNow]
    findings: list[Seen]
    states: list[tuple[datetime, datetime | None, str]]

    @property
    def path(self) -> str:
        """The address of its page."""
        return instance_path(self.account, self.external_id)


def record_of(account: str | None, external_id: str, choice: TeamChoice) -> Record | None:
    """Give the latest launch of an instance; None when there is none, and also when it may not be seen."""
    rows = Instance.objects.select_related("account").filter(external_id=external_id)
    rows = rows.filter(account__isnull=True) if account is None else rows.filter(account__name=account)
    row = rows.order_by("-launched_at", "-pk").first()
    if row is None or not choice.covers(row.team_id):
        return None
    verdicts = [_judged(one) for one in _verdicts("instance", [row.pk]).order_by("-start")[:HISTORY]]
    current = next((one for one in verdicts if one.end is None), None)
    return Record(
        id=row.pk,
        account=row.account.name if row.account else None,
        provider=row.account.provider if row.account else "",
        external_id=row.external_id,
        host=row.host,
        team_id=row.team_id,
        gpu_count=row.gpu_count,
        attributes=row.attributes,
        provider_state=row.state,
        launched_at=row.launched_at,
        last_started_at=row.last_started_at,
        first_seen_at=row.first_seen_at,
        verdict=current,
        history=verdicts,
        gpus=_gpus(row.pk),
        findings=_findings(row.pk),
        states=_states(row.pk),
    )


def _verdicts(kind: str, ids: list[int]) -> Any:
    return Verdict.objects.filter(subject_kind=kind, subject_id__in=ids)


def _judged(row: Verdict) -> Judged:
    return Judged(
        row.state,
        row.reason,
        row.start,
        row.end,
        row.since,
        row.confidence,
        row.policy,
        row.policy_version,
        row.evidence,
    )


def _gpus(instance_id: int) -> list[GpuNow]:
    rows = list(Gpu.objects.filter(instance=instance_id).order_by("index", "uuid", "mig_instance"))
    current = {
        one.subject_id: _judged(one) for one in _verdicts("gpu", [row.pk for row in rows]).filter(end__isnull=True)
    }
    return [GpuNow(row.pk, str(row), row.index, row.model, row.last_seen_at, current.get(row.pk)) for row in rows]


def _findings(instance_id: int) -> list[Seen]:
    rows = Finding.objects.filter(instance=instance_id).order_by("-opened_at")[:HISTORY]
    return [Seen(one.kind, one.subject_name, one.since, one.opened_at, one.closed_at, one.evidence) for one in rows]


def _states(instance_id: int) -> list[tuple[datetime, datetime | None, str]]:
    rows = InstanceState.objects.filter(instance=instance_id).order_by("-start")[:HISTORY]
    return [(one.start, one.end, one.state) for one in rows]
