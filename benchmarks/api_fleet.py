"""What the API lists beside machines: jobs, findings, alerts, deliveries, audit events, and hours of some machines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.db import connection

from alerts.models import Alert, Attempt, Channel, Delivery, Message
from common.partitions import make_months
from fleet.models import Finding, Gpu, GpuPlacement, GpuUse, Instance, InstanceState, Job, MeteredSpan
from people.models import AuditEvent, Team

BATCH = 5_000
JOBS_ENDED = 20_000
OPEN = 4  # of a machine's eight GPUs are held by its job
LISTED = 20_000
METERED = 100  # machines with a month of hours
HOURS = 24 * 30


def make_lists(now: datetime) -> None:
    """Fill every list to a size that a page must not feel."""
    teams, machines = list(Team.objects.all()), list(Instance.objects.order_by("pk"))
    past = now - timedelta(days=29)
    jobs = Job.objects.bulk_create(
        [
            Job(
                kind="slurm", external_id=f"{n}", owner=f"user-{n % 200}", team=teams[n % len(teams)], started_at=past,
                ended_at=past if n < JOBS_ENDED else None, team_settled_at=now,
            )
            for n in range(JOBS_ENDED + len(machines))
        ],
        batch_size=BATCH,
    )  # fmt: skip
    running = dict(zip([one.pk for one in machines], jobs[JOBS_ENDED:], strict=True))
    GpuPlacement.objects.bulk_create(
        [
            GpuPlacement(gpu=gpu, instance_id=gpu.instance_id, host=gpu.host, start=past - timedelta(days=1))
            for gpu in Gpu.objects.exclude(instance=None)
        ],
        batch_size=BATCH,
    )
    GpuUse.objects.bulk_create(
        [
            GpuUse(gpu=gpu, job=running[gpu.instance_id], start=past)
            for gpu in Gpu.objects.filter(index__lt=OPEN)
            if gpu.instance_id
        ],
        batch_size=BATCH,
    )
    Finding.objects.bulk_create(_findings(machines, now), batch_size=BATCH)
    _alerts(teams, now)
    AuditEvent.objects.bulk_create(
        [
            AuditEvent(at=now, by="system", action="apply", subject_kind="file", subject=f"{n}", details={"n": n})
            for n in range(LISTED)
        ],
        batch_size=BATCH,
    )
    _hours(machines[:METERED], past, now)


def _findings(machines: list[Instance], now: datetime) -> Iterator[Finding]:
    for n in range(LISTED):
        machine, is_open = machines[n % len(machines)], n >= LISTED - len(machines)
        start = now - timedelta(minutes=LISTED - n)
        yield Finding(
            kind="low_utilization", subject_kind="instance", subject_id=machine.pk, subject_name=machine.external_id,
            instance=machine, team_id=machine.team_id, episode=start, since=start, opened_at=start,
            closed_at=None if is_open else now, evidence={"minutes": 60, "peak_pct": 1.5},
        )  # fmt: skip


def _alerts(teams: list[Team], now: datetime) -> None:
    channel = Channel.objects.create(name="ops", kind="webhook")
    alerts = Alert.objects.bulk_create(
        [
            Alert(
                rule="idle", kind="idle", subject_kind="instance", subject=f"node-{n}", team=teams[n % len(teams)],
                episode="e", opened_at=now,
            )
            for n in range(LISTED)
        ],
        batch_size=BATCH,
    )  # fmt: skip
    messages = Message.objects.bulk_create(
        [
            Message(kind="alert", topic="idle", subject=one.subject, team_id=one.team_id, created_at=now)
            for one in alerts
        ],
        batch_size=BATCH,
    )
    links = Message.alerts.through
    links.objects.bulk_create(
        [links(message=message, alert=alert) for message, alert in zip(messages, alerts, strict=True)],
        batch_size=BATCH,
    )
    deliveries = Delivery.objects.bulk_create(
        [Delivery(message=one, channel=channel, state="sent", first_due=now, due_at=now) for one in messages],
        batch_size=BATCH,
    )
    Attempt.objects.bulk_create(
        [Attempt(delivery=one, at=now, outcome="accepted", status=200) for one in deliveries], batch_size=BATCH
    )


def _hours(machines: list[Instance], since: datetime, now: datetime) -> None:
    """A month of hours of some machines; what the others have lies behind the index."""
    InstanceState.objects.bulk_create(InstanceState(instance=one, start=since, state="running") for one in machines)
    MeteredSpan.objects.bulk_create(MeteredSpan(instance=one, start=since, until=now) for one in machines)
    for table in ("fleet_gpuhour", "billing_gpuhourcost"):
        make_months(table, (since, now, now + timedelta(days=1)))
    values: dict[str, Any] = {"machines": [one.pk for one in machines], "since": since, "hours": HOURS}
    keys = """generate_series(0, %(hours)s - 1) h, fleet_gpu g
              WHERE g.instance_id = ANY(%(machines)s)"""
    hour = "date_trunc('hour', %(since)s::timestamptz) + h * interval '1 hour', g.instance_id, g.id, 0"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""INSERT INTO fleet_gpuhour (hour, instance_id, gpu_ref, share, part_start_minute, team_id, owner,
                    gpu_model, working_ms, low_ms, held_ms, empty_ms, unknown_ms, stopped_ms)
                SELECT {hour}, 0, (SELECT team_id FROM fleet_instance WHERE id = g.instance_id), '', g.model,
                       3600000, 0, 0, 0, 0, 0 FROM {keys}""",
            values,
        )
        cursor.execute(
            f"""INSERT INTO billing_gpuhourcost (hour, instance_id, gpu_ref, share, currency, counts_time,
                    is_list_price, unpriced_ms, working, low, held, empty, unknown, stopped)
                SELECT {hour}, 'USD', true, false, 0, 2.5, 0, 0, 0, 0, 0 FROM {keys}""",
            values,
        )
        cursor.execute("ANALYZE")
