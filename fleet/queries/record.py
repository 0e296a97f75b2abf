"""One instance with all that stands behind its verdict: what the record page shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Subquery
from django.db.models.functions import JSONObject

from fleet.domain.states import FindingKind
from fleet.models import Finding, Gpu, Instance, Verdict
from fleet.queries.standing import instance_path
from people.roles import TeamChoice

HISTORY = 20
_VERDICT_JSON = JSONObject(**{
    name: name
    for name in ("state", "reason", "start", "end", "since", "confidence", "policy", "policy_version", "evidence")
})  # fmt: skip


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
    vendor: str
    mig_instance: str
    memory_total_mib: int | None
    power_limit_watts: float | None
    first_seen_at: datetime
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
    """``attributes`` are the current ones; ``provider_state`` is the provider's word."""

    id: int
    account: str | None
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

    @property
    def path(self) -> str:
        """The address of its page."""
        return instance_path(self.account, self.external_id)

    @property
    def evidence(self) -> Mapping[str, Any]:
        """Of the open idle finding, which each pass brings up to date, else of the current verdict."""
        found = (one.evidence for one in self.findings if one.kind == FindingKind.IDLE and not one.closed_at)
        return {**(self.verdict.evidence if self.verdict else {}), **next(found, {})}


def record_of(account: str | None, external_id: str, choice: TeamChoice) -> Record | None:
    """Give the latest launch of an instance; None when there is none, and also when it may not be seen."""
    rows = (
        Instance.objects.select_related("account")
        .annotate(seen=_findings(), history=_history(), devices=_devices())
        .filter(external_id=external_id)
    )
    rows = rows.filter(account__isnull=True) if account is None else rows.filter(account__name=account)
    row = rows.order_by("-launched_at", "-pk").first()
    if row is None or not choice.covers(row.team_id):
        return None
    history = [_judged(value) for value in row.history]
    return Record(
        id=row.pk,
        account=row.account.name if row.account else None,
        external_id=row.external_id,
        host=row.host,
        team_id=row.team_id,
        gpu_count=row.gpu_count,
        attributes=row.attributes,
        provider_state=row.state,
        launched_at=row.launched_at,
        last_started_at=row.last_started_at,
        first_seen_at=row.first_seen_at,
        verdict=next((one for one in history if one.end is None), None),
        history=history,
        gpus=[_gpu(value) for value in row.devices],
        findings=[
            _seen(value) for value in row.seen if value["subject_kind"] != "job" or choice.covers(value["team_id"])
        ],
    )


def _gpu(value: Mapping[str, Any]) -> GpuNow:
    """Read a GPU's JSON value with its current verdict."""
    first, last = _time(value["first_seen_at"]), _time(value["last_seen_at"])
    assert first is not None  # the columns are not null
    assert last is not None
    uuid, part = value["uuid"], value["mig_instance"]
    return GpuNow(
        value["id"], f"{uuid}/{part}" if part else uuid, value["index"], value["model"], value["vendor"], part,
        value["memory_total_mib"], value["power_limit_watts"], first, last,
        _judged(value["verdict"]) if value["verdict"] else None,
    )  # fmt: skip


def _devices() -> ArraySubquery:
    """Give the devices of an instance as JSON values of its own row."""
    names = ("id", "uuid", "mig_instance", "index", "model", "vendor", "memory_total_mib", "power_limit_watts",
             "first_seen_at", "last_seen_at", "verdict")  # fmt: skip
    rows = Gpu.objects.filter(instance=OuterRef("pk")).annotate(verdict=_current())
    return ArraySubquery(
        rows.order_by("index", "uuid", "mig_instance").values(json=JSONObject(**{name: name for name in names}))
    )


def _history() -> ArraySubquery:
    """Give the newest verdicts of an instance as JSON values of its own row."""
    rows = Verdict.objects.filter(subject_kind="instance", subject_id=OuterRef("pk")).order_by("-start")[:HISTORY]
    return ArraySubquery(rows.values(json=_VERDICT_JSON))


def _current() -> Subquery:
    """Give the current verdict of a GPU as a JSON value of its row."""
    rows = Verdict.objects.filter(subject_kind="gpu", subject_id=OuterRef("pk"), end__isnull=True)
    return Subquery(rows.values(json=_VERDICT_JSON)[:1])


def _judged(value: Mapping[str, Any]) -> Judged:
    start, end, since = (_time(value[name]) for name in ("start", "end", "since"))
    assert start is not None  # the column is not null
    return Judged(
        value["state"], value["reason"], start, end, since, value["confidence"], value["policy"],
        value["policy_version"], value["evidence"],
    )  # fmt: skip


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _findings() -> ArraySubquery:
    """Give the newest findings of an instance as JSON values of its own row."""
    fields = ("kind", "subject_kind", "team_id", "subject_name", "since", "opened_at", "closed_at", "evidence")
    rows = Finding.objects.filter(instance=OuterRef("pk")).order_by("-opened_at")[:HISTORY]
    return ArraySubquery(rows.values(json=JSONObject(**{name: name for name in fields})))


def _seen(value: Mapping[str, Any]) -> Seen:
    since, opened, closed = (_time(value[name]) for name in ("since", "opened_at", "closed_at"))
    assert since is not None  # the columns are not null
    assert opened is not None
    return Seen(value["kind"], value["subject_name"], since, opened, closed, value["evidence"])


@dataclass(frozen=True)
class Whose:
    """The latest launch of an instance and its team of now."""

    id: int
    team_id: int | None


def team_of(account: str | None, external_id: str) -> Whose | None:
    """Say whose the latest launch of an instance is; None when there is none."""
    rows = Instance.objects.filter(external_id=external_id)
    rows = rows.filter(account__isnull=True) if account is None else rows.filter(account__name=account)
    found = rows.order_by("-launched_at", "-pk").values_list("pk", "team_id").first()
    return Whose(*found) if found else None
