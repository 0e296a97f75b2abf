"""Machine-days: the hours of a local day by machine, job and team; team-days are their sums."""

from __future__ import annotations

from collections import defaultdict
from datetime import date
from decimal import Decimal

import pytest

from billing.models import JobTotal, MachineDay, MachineMonth, TeamDay
from fleet.models import ChangedHour, GpuHour, OwnershipRule
from people.models import Organization
from tests.support.money_world import World, utc

pytestmark = pytest.mark.django_db
HOUR_MS = 3_600_000


def test_a_day_is_split_by_job_and_team_and_cut_at_the_local_midnight(world: World) -> None:
    Organization.objects.update_or_create(pk=1, defaults={"time_zone": "Asia/Kolkata"})
    red = world.team("red")
    OwnershipRule.objects.create(
        valid_from=utc("1970-01-01T00:00"), position=0, spec={"team_from": {"label": "namespace"}}
    )
    box = world.instance("i-1", [("2025-06-03T16:00", "running")], gpu_count=2, price="4.00", gpu_model="H100")
    gpus = [world.gpu(box, index, since="2025-06-03T16:00") for index in range(2)]
    for gpu in gpus:
        world.sample(gpu, "2025-06-03T16:00", "2025-06-03T20:00", 90)
    job = world.job(gpus[:1], "red/train", "2025-06-03T17:00", "2025-06-03T20:00", namespace="red")
    world.settle("2025-06-03T20:00")

    found = {(row.day, row.job_id, row.team_id): row for row in MachineDay.objects.all()}
    third, fourth = date(2025, 6, 3), date(2025, 6, 4)  # midnight there is 18:30 UTC
    assert set(found) == {(third, None, None), (third, job.pk, red.pk), (fourth, None, None), (fourth, job.pk, red.pk)}
    assert found[third, job.pk, red.pk].working_ms == 1.5 * HOUR_MS
    assert found[third, job.pk, red.pk].working == Decimal(3)
    assert found[third, None, None].working_ms == (2.5 + 1) * HOUR_MS
    assert found[fourth, job.pk, red.pk].working == Decimal(3)
    assert found[fourth, None, None].working == Decimal(3)

    sums: defaultdict[tuple[date, int | None], Decimal] = defaultdict(Decimal)
    for row in MachineDay.objects.all():
        sums[row.day, row.team_id] += row.working
    assert {(row.day, row.team_id): row.compute_working for row in TeamDay.objects.all()} == dict(sums)


def test_a_day_made_anew_comes_out_the_same(world: World) -> None:
    box = world.instance("i-1", [("2025-06-03T08:00", "running")], price="1.00")
    gpu = world.gpu(box, since="2025-06-03T08:00")
    world.sample(gpu, "2025-06-03T08:00", "2025-06-03T12:00", 50)
    world.settle("2025-06-03T10:00")
    world.settle("2025-06-03T12:00")
    (row,) = MachineDay.objects.all()
    assert (row.working, row.working_ms) == (Decimal(4), 4 * HOUR_MS)
    (month,) = MachineMonth.objects.all()
    assert (month.month, month.cost) == (date(2025, 6, 1), Decimal(4))


def test_months_and_totals_of_jobs_follow_what_changes_afterwards(world: World) -> None:
    red, blue = world.team("red"), world.team("blue")
    rule = OwnershipRule.objects.create(valid_from=utc("1970-01-01T00:00"), position=0, spec={"team": "red"})
    box = world.instance("i-1", [("2025-06-29T22:00", "running")], price="1.00")
    gpu = world.gpu(box, since="2025-06-29T22:00")
    world.sample(gpu, "2025-06-29T22:00", "2025-07-01T02:00", 50)
    job = world.job([gpu], "x/train", "2025-06-30T22:00", "2025-07-01T02:00")
    world.settle("2025-07-01T01:00")
    world.settle("2025-07-01T02:00")

    def months() -> dict[tuple[date, int | None], Decimal]:
        return {(row.month, row.team_id): row.cost for row in MachineMonth.objects.all()}

    assert months() == {(date(2025, 6, 1), red.pk): Decimal(26), (date(2025, 7, 1), red.pk): Decimal(2)}
    (total,) = JobTotal.objects.all()
    assert (total.job_id, total.team_id, total.cost, total.working_ms) == (job.pk, red.pk, Decimal(4), 4 * HOUR_MS)

    rule.spec = {"team": "blue"}
    rule.save()
    for hour in GpuHour.objects.values_list("hour", flat=True).distinct():
        ChangedHour.objects.get_or_create(instance=box, hour=hour)
    world.settle("2025-07-01T02:00")
    assert months() == {(date(2025, 6, 1), blue.pk): Decimal(26), (date(2025, 7, 1), blue.pk): Decimal(2)}
    (total,) = JobTotal.objects.all()
    assert (total.team_id, total.cost) == (blue.pk, Decimal(4))
