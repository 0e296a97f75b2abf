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
from fleet.domain.samples import SampleBlock
from fleet.domain.signals import Signal
from fleet.models import Account, Gpu, GpuPlacement, GpuUse, Instance, InstanceState, InstanceVersion, Job
from people.models import Team

FIVE_MINUTES = timedelta(minutes=5)


def utc(text: str) -> datetime:
    """Read `2025-06-03T10:00` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@dataclass
class World:
    """Rows are written by the tables' own models; samples and idle runs are kept here and read by metering."""

    samples: dict[tuple[int, int], tuple[float, float, float]] = field(default_factory=dict)
    idle: dict[int, list[tuple[datetime, datetime | None]]] = field(default_factory=dict)

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
        self.idle.setdefault(gpu.pk, []).append((utc(since), utc(until) if until else None))

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
        result = meter(now=utc(now))
        price_hours(now=utc(now))
        return result

    def load_block(self, gpu_ids: Sequence[int], since: datetime, until: datetime) -> SampleBlock:
        """Stand in for `fleet.queries.samples.load_block`."""
        from fleet.domain.samples import empty_block

        first, last = int(since.timestamp()) // 300 * 300 + 300, int(until.timestamp()) // 300 * 300
        block = empty_block(np.asarray(gpu_ids, dtype=np.int64), np.arange(first, last + 1, 300, dtype=np.int64))
        rows = {gpu: row for row, gpu in enumerate(gpu_ids)}
        for (gpu, mark), (activity, memory, minutes) in self.samples.items():
            if gpu in rows and first <= mark <= last:
                place = rows[gpu], (mark - first) // 300
                block.points[place], block.minutes[place] = 10, minutes
                for values in (block.mean, block.peak):
                    values[Signal.SM_ACTIVE][place] = activity
                    values[Signal.MEMORY_MIB][place] = memory
        return block

    def load_idle(self, gpu_ids: Any, marks: Any) -> Any:
        """Stand in for `fleet.queries.meter_facts.load_idle`."""
        flags = np.zeros((len(gpu_ids), len(marks)), dtype=np.bool_)
        for row, gpu in enumerate(gpu_ids.tolist()):
            for since, until in self.idle.get(gpu, ()):
                end = np.inf if until is None else until.timestamp()
                flags[row] |= (marks > since.timestamp()) & (marks <= end)
        return flags


@pytest.fixture
def world(db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    """Give an empty world whose samples metering reads."""
    made = World()
    monkeypatch.setattr("fleet.actions.meter.load_block", made.load_block)
    monkeypatch.setattr("fleet.actions.meter.load_idle", made.load_idle)
    return made


def sums(rows: Iterable[Any], names: Mapping[str, str] | Sequence[str]) -> dict[str, Any]:
    """Add columns of rows."""
    rows = list(rows)
    return {name: sum(getattr(row, name) or 0 for row in rows) for name in names}
