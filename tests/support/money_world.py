"""A small world for tests of money: instances with states and prices, GPUs with samples, jobs, teams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

from billing.actions.costs import price_hours
from billing.models import InstancePrice
from common.periods import BEGINNING
from fleet.actions.meter import MeterResult, meter
from fleet.actions.samples import store_block
from fleet.domain.samples import empty_block
from fleet.domain.signals import Signal
from fleet.models import Account, Gpu, GpuPlacement, GpuUse, IdleRun, Instance, InstanceState, InstanceVersion, Job
from people.models import Team

FIVE_MINUTES = timedelta(minutes=5)


def utc(text: str) -> datetime:
    """Read `2025-06-03T10:00` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class World:
    """Writes the tables; ``samples``, (GPU, mark) -> (activity, MiB, minutes), are stored when it settles."""

    samples: dict[tuple[int, int], tuple[float, float, float]] = field(default_factory=dict)

    def account(self, name: str = "acct", provider: str = "on-prem") -> Account:
        """Give the account, made on first use."""
        return Account.objects.get_or_create(name=name, defaults={"kind": "static", "provider": provider})[0]

    def instance(
        self,
        name: str,
        states: Sequence[tuple[str, str]] = (("2025-06-02T08:00", "running"),),
        *,
        price: str | None = None,
        currency: str = "USD",
        account: Account | None = None,
        gpu_count: int | None = 1,
        **attributes: Any,
    ) -> Instance:
        """Make an instance with ``states`` (since, state) and, if given, a price per hour from the beginning."""
        account = account or self.account()
        first = utc(states[0][0])
        row = Instance.objects.create(
            account=account, external_id=name, host=name, launched_at=first, gpu_count=gpu_count, first_seen_at=first
        )
        known = {"provider": account.provider, "host": name, "gpu_count": gpu_count, **attributes}
        InstanceVersion.objects.create(instance=row, valid_from=BEGINNING, attributes=known)
        for index, (since, state) in enumerate(states):
            end = utc(states[index + 1][0]) if index + 1 < len(states) else None
            InstanceState.objects.create(instance=row, start=utc(since), end=end, state=state)
        if price is not None:
            InstancePrice.objects.create(
                instance=row, valid_from=BEGINNING, price_per_hour=Decimal(price), currency=currency
            )
        return row

    def gpu(self, instance: Instance, index: int = 0, *, since: str = "2025-06-03T00:00", model: str = "") -> Gpu:
        """Put a GPU on the instance."""
        start = utc(since)
        row = Gpu.objects.create(
            uuid=f"GPU-{instance.pk}-{index}", index=index, model=model, host=instance.host, instance=instance,
            first_seen_at=start, last_seen_at=start, memory_total_mib=81_559,
        )  # fmt: skip
        GpuPlacement.objects.create(gpu=row, start=start, host=instance.host, instance=instance)
        return row

    def sample(
        self, gpu: Gpu, since: str, until: str, activity: float, *, memory_mib: float = 40_000, minutes: float = 5
    ) -> None:
        """Fill (since, until] with samples of one activity."""
        mark, last = utc(since) + FIVE_MINUTES, utc(until)
        while mark <= last:
            self.samples[gpu.pk, int(mark.timestamp())] = (activity, memory_mib, minutes)
            mark += FIVE_MINUTES
        gpu.last_seen_at = max(gpu.last_seen_at, last)
        gpu.save()

    def is_idle(self, gpu: Gpu, since: str, until: str | None = None) -> None:
        """Say that an idle episode of the organisation's rule held."""
        IdleRun.objects.create(gpu=gpu, since=utc(since), until=utc(until) if until else None)

    def job(self, gpus: Iterable[Gpu], name: str, since: str, until: str | None = None, **labels: str) -> Job:
        """Let a job use GPUs."""
        row = Job.objects.create(kind="pod", external_id=name, labels=labels, started_at=utc(since))
        for gpu in gpus:
            GpuUse.objects.create(gpu=gpu, job=row, start=utc(since), end=utc(until) if until else None)
        return row

    def team(self, name: str, **more: Any) -> Team:
        """Make a team."""
        return Team.objects.create(name=name, **more)

    def settle(self, now: str) -> MeterResult:
        """Meter and price."""
        self.store()
        result = meter(now=utc(now))
        price_hours()
        return result

    def store(self) -> None:
        """Store the samples that were not stored yet."""
        for gpu in {gpu for gpu, _ in self.samples}:
            own = {mark: values for (of, mark), values in self.samples.items() if of == gpu}
            block = empty_block(np.array([gpu], dtype=np.int64), np.arange(min(own), max(own) + 1, 300, dtype=np.int64))
            for mark, (activity, memory, minutes) in own.items():
                place = 0, (mark - min(own)) // 300
                block.points[place], block.minutes[place], block.interval[place] = 10, minutes, 30
                block.first_at[place], block.last_at[place] = mark - 270, mark
                for values in (block.mean, block.peak):
                    values[Signal.SM_ACTIVE][place] = activity
                    values[Signal.MEMORY_MIB][place] = memory
            store_block(block)
        self.samples.clear()


@pytest.fixture
def world(db: None) -> World:
    """Give an empty world."""
    return World()


def sums(rows: Iterable[Any], names: Mapping[str, str] | Sequence[str]) -> dict[str, Any]:
    """Add columns of rows."""
    rows = list(rows)
    return {name: sum(getattr(row, name) or 0 for row in rows) for name in names}
