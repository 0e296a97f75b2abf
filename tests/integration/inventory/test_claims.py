"""Claims: what a person says where no rule speaks; from when; taken back; two at once."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest

from common.errors import BadInput, Refused
from common.periods import BEGINNING
from fleet.actions.claims import Subject, claim, take_back
from fleet.models import ChangedHour, Claim, Gpu, GpuPlacement, GpuUse, Instance, Job, MeteredSpan, OwnershipRule
from fleet.queries.ownership import Resolver
from people.models import AuditEvent, Team
from tests.support.declared import NOW

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


@pytest.fixture
def box() -> Instance:
    OwnershipRule.objects.create(
        valid_from=BEGINNING, position=0, spec={"team": "vision", "match": {"namespace": "vision"}}
    )
    for name in ("nlp", "vision"):
        Team.objects.create(name=name)
    row = Instance.objects.create(external_id="stray", host="stray")
    MeteredSpan.objects.create(instance=row, start=NOW - 3 * HOUR, until=NOW)
    return row


def team(name: str) -> Team:
    return Team.objects.get(name=name)


def job_on(box: Instance, name: str, since: datetime, **labels: str) -> Job:
    gpu = Gpu.objects.create(uuid=f"GPU-{name}", host=box.host, instance=box, first_seen_at=since, last_seen_at=NOW)
    GpuPlacement.objects.create(gpu=gpu, start=since, instance=box, host=box.host)
    row = Job.objects.create(kind="pod", external_id=name, labels=labels, started_at=since)
    GpuUse.objects.create(gpu=gpu, job=row, start=since)
    return row


def owner(box: Instance, at: datetime, job: Job | None = None) -> int | None:
    return Resolver(NOW + 100 * DAY).owned(box.pk, job.pk if job else None, at).team_id


def test_a_claim_holds_from_now_and_marks_only_what_moves(box: Instance) -> None:
    made = claim(now=NOW, by="a@example.com", subject=Subject("instance", box.pk), team_id=team("nlp").pk,
                 from_beginning=False)  # fmt: skip
    assert owner(box, NOW - timedelta(seconds=1)) is None
    assert owner(box, NOW) == team("nlp").pk
    box.refresh_from_db()
    assert box.team == team("nlp")
    assert not ChangedHour.objects.filter(hour__lt=NOW - HOUR).exists()
    event = AuditEvent.objects.get()
    assert (event.by, event.action, event.subject, event.details["team"]) == ("a@example.com", "claim", "stray", "nlp")
    assert event.details["id"] == made.pk


def test_a_claim_from_the_beginning_marks_every_metered_hour(box: Instance) -> None:
    claim(now=NOW, by="a", subject=Subject("instance", box.pk), team_id=team("nlp").pk, from_beginning=True)
    assert owner(box, NOW - 50 * DAY) == team("nlp").pk
    assert ChangedHour.objects.count() == 3


def test_rules_come_first_and_a_job_without_one_follows_its_machine(box: Instance) -> None:
    ruled = job_on(box, "vision/a", NOW - HOUR, namespace="vision")
    bare = job_on(box, "b", NOW - HOUR)
    claim(now=NOW, by="a", subject=Subject("instance", box.pk), team_id=team("nlp").pk, from_beginning=True)
    assert owner(box, NOW, ruled) == team("vision").pk
    assert owner(box, NOW, bare) == team("nlp").pk
    bare.refresh_from_db()
    assert bare.team == team("nlp")
    OwnershipRule.objects.create(valid_from=NOW + DAY, position=0, spec={"team": "vision", "match": {"host": "stray"}})
    assert owner(box, NOW + DAY) == team("vision").pk, "a later rule takes it from its date on"
    assert owner(box, NOW + DAY - HOUR) == team("nlp").pk


def test_the_claim_of_a_job_beats_that_of_its_machine(box: Instance) -> None:
    job = job_on(box, "b", NOW - HOUR)
    claim(now=NOW, by="a", subject=Subject("job", job.pk), team_id=team("vision").pk, from_beginning=True)
    assert sorted(ChangedHour.objects.values_list("hour", flat=True)) == [NOW - HOUR]
    claim(now=NOW, by="a", subject=Subject("instance", box.pk), team_id=team("nlp").pk, from_beginning=True)
    assert owner(box, NOW, job) == team("vision").pk
    assert owner(box, NOW) == team("nlp").pk
    assert NOW - HOUR not in Resolver(NOW).changes(box.pk, NOW - DAY, NOW + DAY), "both hold from the beginning"


def test_of_two_one_wins_and_nothing_else_changes(box: Instance) -> None:
    claim(now=NOW, by="a", subject=Subject("instance", box.pk), team_id=team("nlp").pk, from_beginning=False)
    with pytest.raises(Refused) as refused:
        claim(now=NOW, by="b", subject=Subject("instance", box.pk), team_id=team("vision").pk, from_beginning=True)
    assert refused.value.code == "already_claimed"
    assert Claim.objects.get().team == team("nlp")
    assert AuditEvent.objects.count() == 1


def test_what_a_rule_names_is_not_claimed(box: Instance) -> None:
    job = job_on(box, "vision/a", NOW - HOUR, namespace="vision")
    with pytest.raises(Refused) as refused:
        claim(now=NOW, by="b", subject=Subject("job", job.pk), team_id=team("nlp").pk, from_beginning=False)
    assert refused.value.code == "has_a_team"
    with pytest.raises(BadInput):
        claim(now=NOW, by="b", subject=Subject("instance", 0), team_id=team("nlp").pk, from_beginning=False)
    assert not Claim.objects.exists()


def test_a_claim_of_today_is_undone_an_older_one_ends(box: Instance) -> None:
    subject = Subject("instance", box.pk)
    made = claim(now=NOW, by="a", subject=subject, team_id=team("nlp").pk, from_beginning=True)
    assert take_back(now=NOW + HOUR, by="a", claim_id=made.pk) is True
    assert owner(box, NOW) is None
    box.refresh_from_db()
    assert box.team is None
    assert ChangedHour.objects.count() == 3

    made = claim(now=NOW, by="a", subject=subject, team_id=team("nlp").pk, from_beginning=True)
    assert take_back(now=NOW + 2 * DAY, by="a", claim_id=made.pk) is False
    assert owner(box, NOW + DAY) == team("nlp").pk
    assert owner(box, NOW + 2 * DAY) is None
    with pytest.raises(BadInput):
        take_back(now=NOW + 3 * DAY, by="a", claim_id=made.pk)
    again = claim(now=NOW + 3 * DAY, by="a", subject=subject, team_id=team("vision").pk, from_beginning=True)
    assert again.valid_from == NOW + 2 * DAY, "the past of the claim before stays"
    assert list(AuditEvent.objects.order_by("pk").values_list("action", flat=True)) == [
        "claim", "claim_undone", "claim", "claim_ended", "claim",
    ]  # fmt: skip
