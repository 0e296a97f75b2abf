"""What `api_world` has nothing of: claims, invitations, a saved view, machines that are not seen, pulls and passes."""

from __future__ import annotations

from datetime import timedelta

from fleet.models import Account, BadSample, Claim, Instance, JobRun, Source, SourcePull, Target
from people.models import Invitation, SavedView, User
from tests.support.api_world import MARKS, ApiWorld
from tests.support.page_data import person


def add_more(world: ApiWorld) -> None:
    """Make one of each for every team, named after its number."""
    now, root = world.now, person("root@example.com", ("admin", None))
    lab, source = Account.objects.get(name="lab"), Source.objects.get(name="prom-main")
    for name, mark in MARKS.items():
        team = world.teams.get(name)
        Instance.objects.create(
            account=lab, external_id=f"lost-{mark}", host=f"lost-{mark}", team=team, gpu_count=4, state="running"
        )
        if team is not None:
            Claim.objects.create(
                instance=world.machines[name], team=team, valid_from=now, made_at=now, made_by=f"by-{mark}"
            )
        Invitation.objects.create(
            email=f"new-{mark}@example.com", role="viewer", team=team, prefix=mark, digest="x", created_at=now,
            created_by=root, sent_at=now, expires_at=now + timedelta(days=7),
        )  # fmt: skip
    JobRun.objects.create(name="judge", now=now, started_at=now, ok_at=now)
    JobRun.objects.create(name="collect", shard="prom-main", now=now, started_at=now, failures=2, error_code="refused")
    past = now - timedelta(minutes=20)
    SourcePull.objects.create(
        source=source, at=past, since=past, until=past, gpus=40, samples=480, coverage_pct=97.5, seconds=1.25,
        warnings=["one"],
    )  # fmt: skip
    SourcePull.objects.create(
        source=source,
        at=now,
        since=past,
        until=now,
        error_code="refused",
        error_message="No answer.",
        error_hint="Ask.",
    )
    Target.objects.create(source=source, name="dcgm/box-1001:9400", is_up=False, changed_at=past, interval_seconds=30)
    BadSample.objects.create(source=source, day=now.date(), kind="frozen", signal="power", count=7)


def save_a_view(user: User, world: ApiWorld) -> None:
    """Let a person save a view."""
    SavedView.objects.create(user=user, name="mine", path="/instances/?team=nlp", created_at=world.now)
