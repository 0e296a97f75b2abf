"""A small company for tests of pages: three teams, Unassigned, one month of team-days."""

from __future__ import annotations

import random
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from billing.models import TeamDay
from fleet.models import Account, Source
from people.models import Organization, RoleGrant, Team, User

PASSWORD = "correct horse battery"
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
    nlp = Team.objects.create(name="nlp")
    names = {"nlp": nlp, "nlp-eval": Team.objects.create(name="nlp-eval", parent=nlp)}
    names |= {name: Team.objects.create(name=name) for name in ("vision", "robotics")}
    Account.objects.create(name="lab", kind="static", provider="lab")
    Source.objects.create(name="prom-main", kind="prometheus", spec={"url": "http://127.0.0.1:9"})
    return names


def team_day(day: date, team: Team | None, money: dict[str, str], minutes: dict[str, float], **more: Any) -> TeamDay:
    """Make one row; ``money`` and ``minutes`` by state."""
    values: dict[str, Any] = {"currency": "USD", "gpu_model": "H100", **more}
    values |= {f"compute_{state}": Decimal(amount) for state, amount in money.items()}
    values |= {f"minutes_{state}": value for state, value in minutes.items()}
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
                f"{state}_ms": round(3_600_000 * gpu_hours * share) for state, share in shares.items()
            }
            values |= {
                f"compute_{state}": Decimal(gpu_hours) * Decimal("2.49") * Decimal(str(round(share, 6)))
                for state, share in shares.items()
            }
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
