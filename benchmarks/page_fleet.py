"""A large company for the benchmark of pages: organisation, teams, daily totals, machines with verdicts and prices."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
from django.db import connection

from billing.actions.team_days import JOBS, MONTHS
from billing.models import InstancePrice, TeamDay
from common.periods import floor_mark
from fleet.actions.samples import store_block
from fleet.domain.samples import SampleBlock, empty_block
from fleet.domain.signals import Signal
from fleet.models import Account, Gpu, GpuPlacement, GpuUse, Instance, InstanceVersion, Job, Source, Verdict
from people.models import Installation, Organization, Team

TEAMS = 40
ACCOUNTS = 5
GPUS_EACH = 8
IDLE_OF_HUNDRED = 40
DAYS = 396
PAST_VERDICTS = 5
MACHINE_DAYS = 35
HELD_GPUS = 4  # of a machine, by its job
BATCH = 5_000
SAMPLED = 10  # machines with samples
MODELS = ("H100-SXM5-80GB", "H200-SXM5-141GB", "L40S-48GB")
ATTRIBUTES = {"gpu_model": MODELS[0], "sku": "p5.48xlarge", "region": "eu-central-1", "purchase_option": "on_demand"}


def make_company(now: datetime) -> None:
    """Make organisation, teams (a quarter are sub-teams), accounts, a source and thirteen months of daily totals."""
    Installation.objects.create(pk=1)
    Organization.objects.create(pk=1, name="Example Robotics", time_zone="Europe/Berlin")
    tops = [Team.objects.create(name=f"team-{index}") for index in range(TEAMS - 10)]
    teams = [*tops, *(Team.objects.create(name=f"sub-{index}", parent=tops[index]) for index in range(10)), None]
    accounts = [Account.objects.create(name=f"account-{n}", kind="static", provider="lab") for n in range(ACCOUNTS)]
    Source.objects.create(name="prom-main", kind="prometheus", collected_until=now - timedelta(minutes=2))
    TeamDay.objects.bulk_create(
        (
            TeamDay(
                day=now.date() - timedelta(days=age), team=team, account=accounts[index], gpu_model=model,
                currency="USD",
                compute_working=Decimal("100.123456789"), compute_low=20, compute_held=Decimal("12.5"),
                compute_empty=Decimal("7.25"), compute_unknown=3, storage=Decimal("1.5"), network=Decimal("0.25"),
                list_price_amount=142, working_ms=144_000_000, low_ms=28_000_000, held_ms=18_000_000,
                empty_ms=9_000_000, unknown_ms=4_000_000,
            )
            for age in range(DAYS) for team in teams for index, model in enumerate(MODELS)
        ),
        batch_size=BATCH,
    )  # fmt: skip


def make_machines(gpus: int, now: datetime, gpus_each: int = GPUS_EACH) -> None:
    """Put ``gpus`` GPUs in place of those that are there, ``gpus_each`` to a machine.

    Forty of a hundred machines are idle, so that a page of their list is full at either size.
    """
    for model in (Verdict, InstancePrice, InstanceVersion, Gpu, Instance):
        model.objects.all().delete()
    teams, accounts = list(Team.objects.all()), list(Account.objects.order_by("pk"))
    past = now - timedelta(days=30)
    machines = Instance.objects.bulk_create(
        Instance(
            account=accounts[n % ACCOUNTS], external_id=f"node-{n}", host=f"node-{n}", launched_at=past,
            gpu_count=gpus_each, attributes=ATTRIBUTES, team=teams[n % TEAMS],
        )
        for n in range(gpus // gpus_each)
    )  # fmt: skip
    InstanceVersion.objects.bulk_create(
        InstanceVersion(instance=one, valid_from=past, attributes=ATTRIBUTES) for one in machines
    )
    InstancePrice.objects.bulk_create(
        InstancePrice(instance=one, valid_from=past, price_per_hour=20 + n % 17, currency="USD")
        for n, one in enumerate(machines)
    )
    devices = Gpu.objects.bulk_create(
        Gpu(
            uuid=f"GPU-{n}-{index}", index=index, model=MODELS[0], host=one.host, instance=one,
            first_seen_at=past, last_seen_at=now,
        )
        for n, one in enumerate(machines) for index in range(gpus_each)
    )  # fmt: skip
    Verdict.objects.bulk_create(_verdicts(machines, devices, now), batch_size=BATCH)
    store_block(_samples(devices[: SAMPLED * gpus_each], now))


def make_jobs(now: datetime) -> None:
    """Put a running job on four GPUs of every machine, and two that ended for every GPU."""
    Job.objects.all().delete()
    GpuPlacement.objects.all().delete()
    past = now - timedelta(days=29)
    machines, devices = list(Instance.objects.order_by("pk")), list(Gpu.objects.order_by("pk"))
    running = [
        Job(kind="slurm", external_id=f"run-{one.external_id}", owner=f"user-{n % 200}", team_id=one.team_id,
            started_at=past)
        for n, one in enumerate(machines)
    ]  # fmt: skip
    ended = [
        Job(kind="slurm", external_id=f"{n}", owner=f"user-{n % 200}", team_id=machines[n % len(machines)].team_id,
            started_at=past, ended_at=past + timedelta(hours=n % 600), team_settled_at=now)
        for n in range(2 * len(devices))
    ]  # fmt: skip
    jobs = Job.objects.bulk_create([*running, *ended], batch_size=BATCH)
    mine = dict(zip([one.pk for one in machines], jobs, strict=False))
    GpuPlacement.objects.bulk_create(
        [GpuPlacement(gpu=one, instance_id=one.instance_id, host=one.host, start=past) for one in devices],
        batch_size=BATCH,
    )
    GpuUse.objects.bulk_create(
        [
            GpuUse(gpu=one, job=mine[one.instance_id], start=past)
            for one in devices
            if one.instance_id and (one.index or 0) < HELD_GPUS
        ],
        batch_size=BATCH,
    )


def make_days(now: datetime) -> None:
    """Give every machine five weeks of days, half of each held by a job."""
    with connection.cursor() as cursor:
        cursor.execute("TRUNCATE billing_machineday, billing_machinemonth, billing_jobtotal")
        cursor.execute(
            """INSERT INTO billing_machineday (day, instance_id, job_id, team_id, gpu_model, currency, working, low,
                   held, empty, unknown, stopped, storage, network, other, list_price_amount, working_ms, low_ms,
                   held_ms, empty_ms, unknown_ms, unpriced_ms, unpriced_disk_hours)
               SELECT %(day)s::date - age, i.id, CASE part WHEN 1 THEN u.job_id END, i.team_id, %(model)s, 'USD', 150,
                      20, 12.5, 7.25, 3, 0, 1.5, 0, 0, 0, 288000000, 28000000, 18000000, 9000000, 4000000, 0, 0
               FROM generate_series(0, %(days)s) age, generate_series(1, 2) part, fleet_instance i
               LEFT JOIN LATERAL (SELECT u.job_id FROM fleet_gpuuse u JOIN fleet_gpu g ON g.id = u.gpu_id
                                  WHERE g.instance_id = i.id AND u."end" IS NULL LIMIT 1) u ON TRUE
               WHERE part = 2 OR u.job_id IS NOT NULL""",
            {"day": now.date(), "days": MACHINE_DAYS, "model": MODELS[0]},
        )
        for rollup in (MONTHS, JOBS):
            for age in range(MACHINE_DAYS + 1):
                cursor.execute(rollup, {"day": now.date() - timedelta(days=age), "sign": 1})
        cursor.execute("ANALYZE")


def _samples(devices: list[Gpu], now: datetime) -> SampleBlock:
    """Twelve hours of some devices, for the picture of a record."""
    end = int(floor_mark(now).timestamp())
    marks = np.arange(end - 143 * 300, end + 1, 300, dtype=np.int64)
    block = empty_block(np.array([one.pk for one in devices], dtype=np.int64), marks)
    rng = np.random.default_rng(7)
    for values in (block.peak[Signal.SM_ACTIVE], block.mean[Signal.SM_ACTIVE]):
        values[:] = rng.uniform(0, 95, block.shape)
    block.points[:], block.interval[:], block.minutes[:] = 10, 30, 5
    block.first_at[:], block.last_at[:] = marks - 270, marks
    return block


def _verdicts(machines: list[Instance], devices: list[Gpu], now: datetime) -> Iterator[Verdict]:
    idle = {one.pk for n, one in enumerate(machines) if n % 100 < IDLE_OF_HUNDRED}
    evidence = {"peak_pct": 1.8, "mean_pct": 0.5, "coverage_pct": 100.0, "points": 120}
    hour = timedelta(hours=1)
    subjects = [("instance", one.pk, one.pk) for one in machines]
    subjects += [("gpu", one.pk, one.instance_id or 0) for one in devices]
    for kind, pk, machine in subjects:
        facts: dict[str, Any] = {"subject_kind": kind, "subject_id": pk, "confidence": "high", "evidence": evidence}
        if machine in idle:
            facts |= {"state": "held", "reason": "quiet_memory_held"}
            yield Verdict(start=now - hour, since=now - 2 * hour, **facts)
        else:
            yield Verdict(start=now - hour, **facts, state="working", reason="busy")
        for day in range(1, PAST_VERDICTS + 1):
            start = now - hour - timedelta(days=day)
            yield Verdict(start=start, end=start + timedelta(days=1), **facts | {"state": "working", "reason": "busy"})
