"""Companies in different situations, for looking at their pages."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from fleet.models import JobRun, Source, SourcePull
from people.actions.world import advance_world
from tests.support.page_data import PASSWORD, company, machine, month_of, person, team_day

ADMIN = "ingrid@example.com"
IDLE = {
    "vis-h100-07": "vision",
    "rob-a100-08": "robotics",
    "nlp-h100-12": "nlp",
    "nlp-h100-02": "nlp",
    "eval-l40s-02": "nlp-eval",
}


def nothing_connected() -> None:
    """A first start: one person, no source."""
    person(ADMIN, ("admin", None), password=PASSWORD)


def source_fails() -> None:
    """A source that has never answered well."""
    company()
    nothing_connected()
    now = datetime.now(UTC)
    SourcePull.objects.create(
        source=Source.objects.get(), at=now, since=now, until=now, error_code="source_refused",
        error_message="Nobody answers at http://127.0.0.1:9.", error_hint="Check the address and that Prometheus runs.",
    )  # fmt: skip


def month_with_idle_machines() -> None:
    """A month of three teams, idle machines, one of them unpriced and one that no account knows, an unassigned one."""
    teams = company()
    nothing_connected()
    now = datetime.now(UTC)
    month_of(teams, date(2025, 6, 1), 30)
    for index, (name, team) in enumerate(IDLE.items()):
        machine(name, teams[team], "empty" if index % 2 else "held", now=now, price="" if index == 2 else "32.80")
    machine("stray-01.cluster.example.com", None, "held", now=now, account=False, price="")
    machine("vis-h100-03", teams["vision"], "working", now=now)
    machine("rob-a100-01", teams["robotics"], "unknown", now=now)
    Source.objects.update(collected_until=now - timedelta(minutes=2))
    JobRun.objects.create(name="meter", now=now, started_at=now, ok_at=now)


def unpriced_and_two_currencies() -> None:
    """Dollars and euros side by side, a team without any price, a late source, long names."""
    teams = company()
    nothing_connected()
    month_of(teams, date(2025, 6, 1), 12)
    now = datetime.now(UTC)
    long_named = person("lead@example.com", ("team_lead", teams["vision"]), password=PASSWORD)
    long_named.save()
    for day in range(1, 8):
        team_day(
            date(2025, 6, day),
            teams["robotics"],
            {"working": "310.5", "held": "99.9"},
            {"working": 90, "held": 30},
            currency="EUR",
        )
        team_day(
            date(2025, 6, day),
            None,
            {},
            {"unknown": 24},
            gpu_model="L40S",
            unpriced_ms=24 * 3_600_000,
            storage=Decimal(0),
        )
    Source.objects.create(
        name="a-telemetry-source-with-a-rather-long-name", kind="prometheus", collected_until=now - timedelta(hours=5)
    )


def replayed() -> None:
    """A database under replayed time."""
    teams = company()
    nothing_connected()
    world = datetime(2025, 6, 20, 11, tzinfo=UTC)
    month_of(teams, date(2025, 6, 1), 20)
    machine("vis-h100-07", teams["vision"], "held", now=world)
    Source.objects.update(collected_until=world)
    advance_world(now=world, is_replay=True)


def no_grant() -> None:
    """Somebody whom nobody has given a role yet."""
    company()
    person(ADMIN, password=PASSWORD)
