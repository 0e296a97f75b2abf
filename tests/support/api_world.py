"""A company in which every team has a thing of each kind, named after a number that is the team's alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from django.test import Client

from alerts.models import Alert, Attempt, Channel, Delivery, Message
from billing.models import InstanceHourCost, Price
from common.periods import floor_hour
from fleet.models import Finding, Gpu, GpuUse, Instance, InstanceState, Job
from people.actions.audit import record
from people.models import Team, User
from tests.support.page_data import company, machine, person, team_day

MARKS = {"nlp": "1001", "nlp-eval": "1020", "vision": "1300", "robotics": "4000", "": "70707"}


@dataclass(frozen=True)
class ApiWorld:
    """The teams by name, the machine of each, and the time."""

    teams: dict[str, Team]
    machines: dict[str, Instance]
    now: datetime


def api_world(now: datetime) -> ApiWorld:
    """Make it: per team a machine of eight GPUs, a job, findings, an alert with its delivery, spend, a disk."""
    teams = company()
    machines = {}
    Price.objects.create(
        sku="p5", unit="instance_hour", price="98.32", currency="USD", valid_from=now, source="contract",
    )  # fmt: skip
    record(now=now, by="ingrid@example.com", action="apply", subject_kind="file", subject="fleet.yaml", reason="start")
    channel = Channel.objects.create(name="ops", kind="webhook")
    for name, mark in MARKS.items():
        machines[name] = _of_team(mark, teams.get(name), channel, now)
    return ApiWorld(teams, machines, now)


def metered_month(now: datetime) -> str:
    """Give the month, in the organisation's zone, of the hours that `api_world` makes at ``now``."""
    return f"{_metered_hour(now).astimezone(ZoneInfo('Europe/Berlin')):%Y-%m}"


def _metered_hour(now: datetime) -> datetime:
    return floor_hour(now) - timedelta(hours=2)


def _of_team(mark: str, team: Team | None, channel: Channel, now: datetime) -> Instance:
    box = machine(f"box-{mark}", team, "held", now=now, price=f"{mark}.25")
    hour = _metered_hour(now)
    box.launched_at = hour
    box.attributes = {**box.attributes, "owner": f"owner-{mark}"}
    box.save()
    InstanceState.objects.create(instance=box, start=hour, state="running")
    job = Job.objects.create(
        kind="slurm", external_id=f"job-{mark}", owner=f"owner-{mark}", team=team, started_at=hour, labels={}
    )
    gpu = Gpu.objects.filter(instance=box).order_by("index")[0]
    GpuUse.objects.create(gpu=gpu, job=job, start=hour)
    facts: dict[str, Any] = {"instance": box, "team": team, "episode": hour, "since": hour, "opened_at": now}
    Finding.objects.create(
        kind="idle", subject_kind="instance", subject_id=box.pk, subject_name=box.external_id, **facts,
        evidence={"minutes": 90},
    )  # fmt: skip
    Finding.objects.create(
        kind="suspected_hang", subject_kind="job", subject_id=job.pk, subject_name=job.external_id, **facts
    )
    alert = Alert.objects.create(
        rule="idle", kind="idle", subject_kind="instance", subject=box.external_id, account="lab", team=team,
        episode=f"{hour:%Y-%m-%dT%H:%M:%SZ}", opened_at=now,
    )  # fmt: skip
    message = Message.objects.create(kind="alert", topic="idle", subject=box.external_id, team=team, created_at=now)
    message.alerts.add(alert)
    delivery = Delivery.objects.create(
        message=message, channel=channel, to=f"to-{mark}", state="sent", first_due=now, due_at=now, delivered_at=now
    )
    Attempt.objects.create(delivery=delivery, at=now, outcome="accepted", status=200)
    team_day(hour.astimezone(ZoneInfo("Europe/Berlin")).date(), team, {"working": mark}, {"working": 1})
    InstanceHourCost.objects.create(
        hour=hour, instance=box, kind="storage", team=team, currency="USD", amount=Decimal(f"{mark}.5")
    )
    return box


def somebody(email: str, *grants: tuple[str, Team | None]) -> tuple[User, Client]:
    """Make a person and the client of their session."""
    user, client = person(email, *grants), Client()
    client.force_login(user)
    return user, client


def fetched(client: Client, address: str, status: int = 200, **more: Any) -> Any:
    """Ask for ``address``; give the document, having checked the status."""
    answer = client.get(address, **more)
    assert answer.status_code == status, (address, answer.status_code, answer.content[:300])
    assert answer["Content-Type"] == "application/json"
    return orjson.loads(answer.content)


def all_rows(client: Client, address: str, limit: int) -> list[dict[str, Any]]:
    """Walk a list to its end in pages of ``limit``."""
    rows: list[dict[str, Any]] = []
    following: str | None = f"{address}{'&' if '?' in address else '?'}limit={limit}"
    while following:
        document = fetched(client, following)
        assert len(document["results"]) <= limit
        rows += document["results"]
        following = document["next"]
    return rows
