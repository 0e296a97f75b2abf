"""A small company for tests of pages: three teams, Unassigned, one month of team-days."""

from __future__ import annotations

import random
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from billing.models import InstancePrice, MachineDay, TeamDay
from common.periods import floor_mark
from fleet.actions.samples import store_block
from fleet.domain.samples import empty_block
from fleet.domain.signals import Signal
from fleet.models import Account, Gpu, Instance, Source, Verdict
from people.models import Installation, Organization, RoleGrant, Team, User

PASSWORD = "correct horse battery"
FIVE = timedelta(minutes=5)
STATES = ("working", "low", "held", "empty", "unknown")


def person(email: str, *grants: tuple[str, Team | None], password: str = "") -> User:
    """Make a person with (role, team) grants."""
    user = User(email=email, name=email.split("@", maxsplit=1)[0].title())
    user.set_password(password) if password else user.set_unusable_password()
    user.save()
    for role, team in grants:
        RoleGrant.objects.create(user=user, role=role, team=team)
    return user


def company(zone: str = "Europe/Berlin") -> dict[str, Team]:
    """Make the organisation, an account, a source and the teams nlp > nlp-eval, vision, robotics."""
    Organization.objects.update_or_create(pk=1, defaults={"name": "Example Robotics", "time_zone": zone})
    Installation.objects.get_or_create(pk=1)
    nlp = Team.objects.create(name="nlp")
    names = {"nlp": nlp, "nlp-eval": Team.objects.create(name="nlp-eval", parent=nlp)}
    names |= {name: Team.objects.create(name=name) for name in ("vision", "robotics")}
    Account.objects.create(name="lab", kind="static", provider="lab")
    Source.objects.create(name="prom-main", kind="prometheus", spec={"url": "http://127.0.0.1:9"})
    return names


def team_day(day: date, team: Team | None, money: dict[str, str], hours: dict[str, float], **more: Any) -> TeamDay:
    """Make one row; ``money`` and GPU-``hours`` by state."""
    values: dict[str, Any] = {"currency": "USD", "gpu_model": "H100", **more}
    values |= {f"compute_{state}": Decimal(amount) for state, amount in money.items()}
    values |= {f"{state}_ms": round(value * 3_600_000) for state, value in hours.items()}
    return TeamDay.objects.create(day=day, team=team, **values)


def month_of(teams: dict[str, Team], first: date, days: int, seed: int = 7) -> None:
    """Fill a month: every team with its own habits, an idle Unassigned machine, one day missing for all (a gap)."""
    rng = random.Random(seed)
    habits = {"nlp": (0.84, 320), "nlp-eval": (0.7, 90), "vision": (0.62, 190), "robotics": (0.41, 130), "": (0.1, 24)}
    rows = []
    for name, (busy, gpu_hours) in habits.items():
        for offset in range(days):
            if offset == 9:
                continue
            working = busy * rng.uniform(0.85, 1.1)
            idle = max(0.0, 1 - working - 0.03)
            shares = {
                "working": working * 0.85,
                "low": working * 0.15,
                "held": idle * 0.6,
                "empty": idle * 0.4,
                "unknown": 0.03,
            }
            values: dict[str, Any] = {
                f"{one}_ms": round(3_600_000 * gpu_hours * share) for one, share in shares.items()
            }
            values |= {
                f"compute_{one}": round(Decimal(gpu_hours * share) * Decimal("2.49"), 9)
                for one, share in shares.items()
            }
            values["list_price_amount"] = sum(values[f"compute_{one}"] for one in shares)
            rows.append(
                TeamDay(
                    day=first + timedelta(days=offset),
                    team=teams.get(name),
                    gpu_model="H100",
                    currency="USD",
                    storage=Decimal("11.5") if name else Decimal(0),
                    **values,
                )
            )
    TeamDay.objects.bulk_create(rows)


def machine(
    name: str, team: Team | None, state: str, *, now: datetime, price: str = "32.80", account: bool = True
) -> Instance:
    """Make an instance of eight GPUs with its current verdicts; idle ones since two hours."""
    lab = Account.objects.get(name="lab") if account else None
    row = Instance.objects.create(
        account=lab,
        external_id=name,
        host=name,
        team=team,
        gpu_count=8,
        attributes={"gpu_model": "H100", "owner": "priya"},
    )
    idle = state in {"held", "empty"}
    reason = {"held": "quiet_memory_held", "empty": "quiet_empty", "unknown": "stale"}.get(state, "busy")
    since = now - timedelta(hours=2) if idle else None
    facts: dict[str, Any] = {"start": now - timedelta(hours=1), "state": state, "reason": reason, "since": since}
    facts |= {
        "confidence": "high",
        "evidence": {
            "peak_pct": 1.8,
            "mean_pct": 0.5,
            "coverage_pct": 100.0,
            "points": 42,
            "gpus": 8,
            "window_minutes": 60,
            "memory": "held",
            "signal": "sm_active",
            "threshold_pct": 5,
        },
    }
    gpus = Gpu.objects.bulk_create(
        Gpu(
            uuid=f"GPU-{name}-{index}",
            index=index,
            model="H100",
            host=name,
            instance=row,
            first_seen_at=now,
            last_seen_at=now,
        )
        for index in range(8)
    )
    subjects = [("instance", row.pk)] + [("gpu", gpu.pk) for gpu in gpus]
    Verdict.objects.bulk_create(Verdict(subject_kind=kind, subject_id=pk, **facts) for kind, pk in subjects)
    if price:
        InstancePrice.objects.create(
            instance=row, valid_from=now - timedelta(days=90), price_per_hour=price, currency="USD"
        )
    return row


def samples(row: Instance, now: datetime, *, quiet_hours: float = 2, gap_hours: float = 4, hours: int = 12) -> None:
    """Store samples of its GPUs: work until ``quiet_hours`` ago, a gap of 25 minutes before, then 1 % of activity."""
    gpus = list(Gpu.objects.filter(instance=row).order_by("index"))
    end = floor_mark(now)
    marks = np.array([int((end - FIVE * age).timestamp()) for age in range(12 * hours)][::-1], dtype=np.int64)
    block = empty_block(np.array([gpu.pk for gpu in gpus], dtype=np.int64), marks)
    age = (end.timestamp() - marks) / 3600
    lost = (age > gap_hours) & (age < gap_hours + 0.5)
    rng = np.random.default_rng(7)
    for line in range(len(gpus)):
        peak = np.where(age < quiet_hours, rng.uniform(0, 1.8, len(marks)), rng.uniform(78, 97, len(marks)))
        block.peak[Signal.SM_ACTIVE][line] = peak
        block.mean[Signal.SM_ACTIVE][line] = peak * 0.9
    for signal in (Signal.MEMORY_MIB,):
        block.peak[signal][:], block.mean[signal][:] = 61_000, 61_000
    block.points[:], block.interval[:], block.minutes[:] = 10, 30, 5
    block.first_at[:], block.last_at[:] = marks - 270, marks
    for values in (*block.peak.values(), *block.mean.values()):
        values[:, lost] = np.nan
    block.first_at[:, lost], block.last_at[:, lost] = np.nan, np.nan
    block.points[:, lost], block.minutes[:, lost] = 0, 0
    store_block(block)


def machine_day(
    day: date, machine: Instance, team: Team | None, money: dict[str, str], hours: dict[str, float], **more: Any
) -> MachineDay:
    """Make one row of a machine's day; ``money`` and GPU-``hours`` by state."""
    values: dict[str, Any] = {"currency": "USD", "gpu_model": "H100", **more}
    values |= {state: Decimal(amount) for state, amount in money.items()}
    values |= {f"{state}_ms": round(value * 3_600_000) for state, value in hours.items()}
    return MachineDay.objects.create(day=day, instance=machine, team=team, **values)
