"""Companies in different situations, for looking at their pages."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from fleet.models import Exemption, Gpu, GpuUse, IdleRuleVersion, Instance, Job, JobRun, Policy, Source, SourcePull
from people.actions.world import advance_world
from people.models import Organization, Team, User
from tests.support.page_data import PASSWORD, company, machine, machine_day, month_of, person, samples, team_day

LONG_HOST = "ip-10-120-233-17.eu-central-1.compute.internal.research-platform-production-k8s-gpu-pool-a.example.com"
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
        source=Source.objects.get(), at=now, since=now, until=now, error_code="source_down",
        error_message="Nobody answers at http://127.0.0.1:9.", error_hint="Check the address and that Prometheus runs.",
    )  # fmt: skip


def login_page_answers() -> None:
    """A source that answers with the sign-in page of a proxy, after months that went well."""
    teams = company()
    nothing_connected()
    month_of(teams, date(2025, 6, 1), 30)
    now = datetime.now(UTC)
    Source.objects.update(collected_until=now - timedelta(hours=3))
    SourcePull.objects.create(
        source=Source.objects.get(), at=now, since=now, until=now, error_code="login_page",
        error_message="http://prometheus.monitoring.svc.cluster.example.com:9090 answered with a web page.",
        error_hint="A proxy asks for sign-in: use the address behind it, or give a token with token_env.",
    )  # fmt: skip


def unassigned_only() -> None:
    """Spend that no rule gives to a team."""
    company()
    Team.objects.exclude(parent=None).delete()
    Team.objects.all().delete()
    nothing_connected()
    for day in range(1, 12):
        team_day(date(2025, 6, day), None, {"working": "64", "empty": "31.5"}, {"working": 24, "empty": 12})
    machine("gpu-01", None, "empty", now=datetime.now(UTC))


def long_names() -> None:
    """Names that a company really has: long, without a place to break, in other scripts."""
    teams = company()
    Organization.objects.update(name="Gesellschaft für angewandte Fernerkundungsdatenverarbeitung mbH & Co. KG")
    nothing_connected()
    User.objects.update(name="Wolfeschlegelsteinhausenbergerdorff-Administratorin")
    team = Team.objects.create(name="foundation_models_pretraining_and_posttraining_infrastructure_emea_and_apac")
    Team.objects.create(name="大规模语言模型预训练与对齐研究组", parent=team)
    month_of(teams | {"nlp": team}, date(2025, 6, 1), 20)
    now = datetime.now(UTC)
    row = machine(LONG_HOST, team, "held", now=now)
    samples(row, now)


def month_with_idle_machines() -> None:
    """A month of three teams, idle machines, one of them unpriced and one that no account knows, an unassigned one."""
    teams = company()
    nothing_connected()
    now = datetime.now(UTC)
    month_of(teams, date(2025, 6, 1), 30)
    for index, (name, team) in enumerate(IDLE.items()):
        machine(name, teams[team], "empty" if index % 2 else "held", now=now, price="" if index == 2 else "32.80")
    machine("stray-01.cluster.example.com", None, "held", now=now, account=False, price="")
    samples(Instance.objects.get(external_id="vis-h100-07"), now)
    with_rule_and_jobs(now)
    machine("vis-h100-03", teams["vision"], "working", now=now)
    machine("rob-a100-01", teams["robotics"], "unknown", now=now)
    Source.objects.update(collected_until=now - timedelta(minutes=2))
    JobRun.objects.create(name="meter", now=now, started_at=now, ok_at=now)


def with_rule_and_jobs(now: datetime) -> None:
    """Give vis-h100-07 a policy, an exemption that is over and one that holds, and jobs."""
    IdleRuleVersion.objects.create(valid_from=now - timedelta(days=99), spec={"min_coverage_pct": 75})
    spec = {"mode": "observe", "select": {"teams": ["vision"]}, "idle": {"window": "1h", "threshold_pct": 5}}
    Policy.objects.create(name="interactive", position=0, version=6, spec=spec)
    facts = {"instance_ref": "lab/vis-h100-07", "approver": "ingrid@example.com"}
    Exemption.objects.create(reason="paper deadline", until=now + timedelta(days=3), **facts)
    Exemption.objects.create(reason="demo", until=now - timedelta(days=30), **facts)
    gpus = Gpu.objects.filter(instance__external_id="vis-h100-07")
    for name, owner, share in (
        ("vision/train-segmentation-0", "priya", 6),
        ("nlp/tokenise-with-a-rather-long-name", "", 2),
    ):
        job = Job.objects.create(
            kind="pod", external_id=name, owner=owner, started_at=now - timedelta(hours=9),
            labels={"namespace": name.split("/")[0]},
        )  # fmt: skip
        GpuUse.objects.bulk_create(GpuUse(gpu=gpu, job=job, start=now - timedelta(hours=9)) for gpu in gpus[:share])


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


def money_month() -> None:
    """The idle machines of `month_with_idle_machines` with what each cost by the day, and cost centres."""
    month_with_idle_machines()
    Team.objects.filter(name__startswith="nlp").update(cost_center="R-100")
    Team.objects.filter(name="vision").update(cost_center="R-200")
    for row in Instance.objects.select_related("team"):
        for day in range(1, 31):
            machine_day(
                date(2025, 6, day), row, row.team, {"working": "120.5", "held": "31.25"}, {"working": 9, "held": 3}
            )
