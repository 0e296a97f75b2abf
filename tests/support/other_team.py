"""Things of a team, each of every kind, all named after one word: what of it shows where, and what of it never may."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from alerts.models import Alert, Attempt, Channel, Delivery, Message
from billing.models import InstanceHourCost, MachineDay, MachineMonth, Price, TeamDay
from common.periods import floor_hour
from fleet.models import (
    Account,
    Claim,
    Exemption,
    Finding,
    Gpu,
    GpuUse,
    Instance,
    InstanceState,
    Job,
    OwnershipRule,
    Policy,
    Source,
    SourcePull,
    Target,
)
from people.actions.audit import record
from people.models import ApiToken, Invitation, SavedView, Team
from tests.support.page_data import machine, machine_day, person, team_day


def things_of(word: str, amount: str, *, now: datetime) -> dict[str, Any]:
    """Make a team, its sub-team and people; machines, a job, findings, an alert, spend, a price: ``word`` in each name.

    ``amount`` is a whole number whose digits stand nowhere else.
    """
    team = Team.objects.create(name=f"team-{word}", cost_center=f"cc-{word}")
    Team.objects.create(name=f"sub-{word}", parent=team, cost_center=f"cc-sub-{word}")
    lead = person(f"lead-{word}@example.com", ("team_lead", team))
    account = Account.objects.create(name=f"account-{word}", kind="static", provider=f"provider-{word}")
    boxes = [
        _machine(f"{word}-box-{state}", state, team=team, account=account, amount=amount, now=now)
        for state in ("held", "working")
    ]
    # One that runs and shows no GPU: what is not seen stands on pages of its own.
    Instance.objects.create(
        account=account, external_id=f"{word}-lost", host=f"{word}-lost", team=team, gpu_count=4,
        launched_at=now - timedelta(days=2), first_seen_at=now - timedelta(days=2), attributes={"owner": word},
    )  # fmt: skip
    job = _job(f"{word}-job", word, team, boxes[0], now)
    _findings(boxes[0], job, team, word, now)
    _told(boxes[0], team, word, now)
    _spend(boxes[0], job, account=account, amount=amount, word=word, now=now)
    _people(lead, team, word, now)
    Claim.objects.create(instance=boxes[1], team=team, valid_from=now, made_at=now, made_by=lead.email)
    return {"team": team, "lead": lead, "account": account, "machine": boxes[0], "job": job}


def _machine(name: str, state: str, *, team: Team, account: Account, amount: str, now: datetime) -> Instance:
    box = machine(name, team, state, now=now, price=f"{amount}.25")
    word = name.partition("-")[0]
    start = floor_hour(now) - timedelta(hours=2)
    owner = {"owner": f"owner-{word}", "sku": f"sku-{word}", "region": f"region-{word}", "gpu_model": f"MODEL-{word}"}
    tags = {"tags": {"team": f"tag-{word}"}, "labels": {"project": f"label-{word}"}, "provider": account.provider}
    box.account, box.launched_at, box.attributes = account, start, {**box.attributes, **owner, **tags}
    box.save()
    source = Source.objects.get()
    target = Target.objects.create(source=source, name=f"target-{name}:9400", is_up=False, changed_at=now)
    Gpu.objects.filter(instance=box).update(model=f"MODEL-{word}", source=source, target=target)
    SourcePull.objects.create(
        source=source, at=now - timedelta(minutes=5 * Target.objects.count()), since=start, until=now, samples=12,
        gpus=8 * Target.objects.count(), coverage_pct=97.5, seconds=1.25, warnings=[f"warning-{name}"],
    )  # fmt: skip
    InstanceState.objects.create(instance=box, start=start, state="running")
    return box


def _job(name: str, word: str, team: Team | None, box: Instance, now: datetime) -> Job:
    start = floor_hour(now) - timedelta(hours=2)
    labels = {"namespace": f"space-{word}", "pod": name}
    job = Job.objects.create(
        kind="pod", external_id=f"space-{word}/{name}", owner=f"owner-{word}", team=team, started_at=start,
        labels=labels,
    )  # fmt: skip
    GpuUse.objects.create(gpu=Gpu.objects.filter(instance=box).order_by("index")[0], job=job, start=start)
    return job


def guest(word: str, team: Team, box: Instance, amount: str, *, now: datetime) -> Job:
    """Let a job of a team use the second GPU of somebody's machine, with what that cost the team, for months."""
    job = _job(f"{word}-guest", word, team, box, now)
    GpuUse.objects.filter(job=job).update(gpu=Gpu.objects.filter(instance=box).order_by("index")[1])
    for back in range(4):
        day = (now - timedelta(days=1 + 40 * back)).astimezone(ZoneInfo("Europe/Berlin")).date()
        team_day(day, team, {"working": amount}, {"working": 1.0}, gpu_model=f"GUEST-{word}")
        machine_day(
            day, box, team, {"working": amount, "empty": amount}, {"working": 1.0, "empty": 1.0}, job=job,
            gpu_model=f"GUEST-{word}",
        )  # fmt: skip
    Finding.objects.create(
        kind="low_utilization", subject_kind="job", subject_id=job.pk, subject_name=job.external_id, instance=box,
        team=team, episode=now - timedelta(hours=2), since=now - timedelta(hours=2), opened_at=now,
    )  # fmt: skip
    return job


def stray(word: str, *, now: datetime) -> Instance:
    """Make a machine of nobody, a host that no account knows, and a job of nobody on it."""
    box = machine(f"{word}-stray", None, "held", now=now, account=False, price="")
    Finding.objects.create(
        kind="unassigned", subject_kind="instance", subject_id=box.pk, subject_name=box.external_id, instance=box,
        episode=now - timedelta(hours=2), since=now - timedelta(hours=2), opened_at=now,
    )  # fmt: skip
    _job(f"{word}-stray-job", word, None, box, now)
    return box


def _findings(box: Instance, job: Job, team: Team, word: str, now: datetime) -> None:
    since = now - timedelta(hours=2)
    facts: dict[str, Any] = {"instance": box, "team": team, "episode": since, "since": since, "opened_at": now}
    for kind in ("idle", "unpriced", "partly_used", "ghost"):
        Finding.objects.create(
            kind=kind, subject_kind="instance", subject_id=box.pk, subject_name=box.external_id, **facts,
            evidence={"minutes": 90},
        )  # fmt: skip
    Finding.objects.create(
        kind="suspected_hang", subject_kind="job", subject_id=job.pk, subject_name=job.external_id, **facts
    )
    Exemption.objects.create(
        instance_ref=f"{box.account}/{box.external_id}", reason=f"reason-{word}", until=now + timedelta(days=3),
        approver=f"lead-{word}@example.com",
    )  # fmt: skip
    Policy.objects.create(
        name=f"policy-{word}", position=Policy.objects.count(), version=1,
        spec={"mode": "observe", "select": {"teams": [team.name]}, "idle": {"window": "1h", "threshold_pct": 5}},
    )  # fmt: skip
    OwnershipRule.objects.create(
        valid_from=now - timedelta(days=90), position=OwnershipRule.objects.count(),
        spec={"team": team.name, "match": {"host": f"{word}-*"}},
    )  # fmt: skip


def _told(box: Instance, team: Team, word: str, now: datetime) -> None:
    channel = Channel.objects.create(name=f"channel-{word}", kind="webhook")
    alert = Alert.objects.create(
        rule="idle", kind="idle", subject_kind="instance", subject=box.external_id, account=f"account-{word}",
        team=team, episode=f"{now:%Y-%m-%dT%H:%M:%SZ}", opened_at=now,
    )  # fmt: skip
    message = Message.objects.create(kind="alert", topic="idle", subject=box.external_id, team=team, created_at=now)
    message.alerts.add(alert)
    delivery = Delivery.objects.create(
        message=message, channel=channel, to=f"to-{word}", state="sent", first_due=now, due_at=now, delivered_at=now
    )
    Attempt.objects.create(delivery=delivery, at=now, outcome="accepted", status=200)


def _spend(box: Instance, job: Job, *, account: Account, amount: str, word: str, now: datetime) -> None:
    team, hour = box.team, floor_hour(now) - timedelta(hours=2)
    for back in range(3):
        day = (hour - timedelta(days=14 * back)).astimezone(ZoneInfo("Europe/Berlin")).date()
        money, hours = {"working": amount, "held": f"{amount}.5"}, {"working": 1.0, "held": 1.0}
        team_day(day, team, money, hours, account=account, gpu_model=f"MODEL-{word}")
        values = {"working": Decimal(amount), "held": Decimal(f"{amount}.5"), "working_ms": 3_600_000}
        MachineDay.objects.create(
            day=day, instance=box, job=job, team=team, gpu_model=f"MODEL-{word}", currency="USD", held_ms=3_600_000,
            **values,
        )  # fmt: skip
        MachineMonth.objects.update_or_create(
            month=day.replace(day=1), instance=box, team=team, currency="USD",
            defaults={"cost": Decimal(amount) + Decimal(f"{amount}.5")},
        )  # fmt: skip
    TeamDay.objects.filter(team=team).update(unpriced_ms=1_800_000)
    InstanceHourCost.objects.create(
        hour=hour, instance=box, kind="storage", team=team, currency="USD", amount=Decimal(f"{amount}.5")
    )
    Price.objects.create(
        sku=f"sku-{word}", provider=account.provider, gpu_model=f"MODEL-{word}", unit="instance_hour",
        price=Decimal(f"{amount}.75"), currency="USD", valid_from=now, source=f"contract-{word}",
    )  # fmt: skip


def _people(lead: Any, team: Team, word: str, now: datetime) -> None:
    person(f"engineer-{word}@example.com", ("engineer", team))
    SavedView.objects.create(user=lead, name=f"view-{word}", path=f"/instances/?team={team.name}", created_at=now)
    Invitation.objects.create(
        email=f"new-{word}@example.com", role="viewer", team=team, prefix=f"inv{word}", digest="x", created_at=now,
        created_by=lead, sent_at=now, expires_at=now + timedelta(days=7),
    )  # fmt: skip
    ApiToken.objects.create(
        prefix=f"tok{word}"[:16], digest="x", name=f"token-{word}", owner=lead, team=team, created_at=now,
        expires_at=now + timedelta(days=7), scopes=["read"],
    )  # fmt: skip
    record(
        now=now, by=lead.email, action="claim", subject_kind="instance", subject=f"{word}-box-held",
        reason=f"reason-{word}",
    )  # fmt: skip
