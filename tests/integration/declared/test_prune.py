"""What the file declared once and no longer does."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from alerts.models import Channel, Delivery, Message
from common.errors import Refused
from common.partitions import make_months
from fleet.models import Account, Gpu, GpuHour, GpuPlacement, Instance, InstanceState, Source, SourcePull
from people.models import Team, User
from tests.support.declared import EXAMPLE, NOW, apply_text, names, nothing_changes, utc

pytestmark = pytest.mark.django_db
EMPTY = "organization: {name: Example Robotics}"
LATER = NOW + timedelta(days=1)


def test_without_prune_all_stays_and_is_told(tmp_path: Path) -> None:
    apply_text(tmp_path, EXAMPLE.read_text(encoding="utf-8"))
    result = apply_text(tmp_path, EMPTY, now=LATER)
    assert {warning["code"] for warning in result["warnings"]} == {"no_longer_declared"}
    assert len(result["warnings"]) == 23
    assert (result["created"], result["removed"]) == ([], [])
    assert Account.objects.count() == 2


def test_with_prune_all_goes(tmp_path: Path) -> None:
    apply_text(tmp_path, EXAMPLE.read_text(encoding="utf-8"))
    result = apply_text(tmp_path, EMPTY + "\nroutes: []", now=LATER, prune=True)
    assert len(result["removed"]) == 23
    assert not any(model.objects.exists() for model in (Account, Instance, Source, Channel, Team))
    assert list(User.objects.values_list("is_active", "declared")) == [(False, None)] * 3


def test_what_others_made_stays(tmp_path: Path) -> None:
    Team.objects.create(name="by-hand")
    Source.objects.create(name="default", kind="prometheus", spec={"url": "http://p"})
    User.objects.create(email="admin@example.com")
    Instance.objects.create(external_id="node-7", host="node-7")
    apply_text(tmp_path, EMPTY, prune=True)
    assert (Team.objects.count(), Source.objects.count(), Instance.objects.count()) == (1, 1, 1)
    assert User.objects.get().is_active


def test_declaring_what_others_made_hands_it_to_the_file(tmp_path: Path) -> None:
    Team.objects.create(name="NLP", from_telemetry=True)
    text = "teams: [{name: nlp}, {name: sub, parent: Nlp}]"
    assert names(apply_text(tmp_path, text), "changed") == ["team nlp: name"]
    assert list(Team.objects.order_by("pk").values_list("name", "parent__name", "from_telemetry")) == [
        ("nlp", None, False),
        ("sub", "nlp", False),
    ]
    assert names(apply_text(tmp_path, "teams: [{name: sub}]", prune=True), "removed") == ["team nlp"]


LAB = "accounts: [{name: lab, kind: static, provider: aws, instances: [%s]}]"


def test_an_instance_that_left_the_file_is_kept_until_it_is_pruned(tmp_path: Path) -> None:
    apply_text(tmp_path, LAB % "{id: a}, {id: b}")
    left = apply_text(tmp_path, LAB % "{id: a}", now=LATER)
    assert [warning["message"].split(" was")[0] for warning in left["warnings"]] == ["instance lab/b"]
    assert Instance.objects.get(external_id="b").state == "running"
    assert names(apply_text(tmp_path, LAB % "{id: a}", now=LATER, prune=True), "removed") == ["instance lab/b"]
    assert list(Instance.objects.values_list("external_id", flat=True)) == ["a"]
    assert apply_text(tmp_path, LAB % "{id: a}", now=LATER)["warnings"] == []


def seen(instance: Instance) -> None:
    gpu = Gpu.objects.create(uuid="GPU-1", host=instance.host, first_seen_at=utc("2025-06-05T00:00"), last_seen_at=NOW)
    GpuPlacement.objects.create(gpu=gpu, host=instance.host, instance=instance, start=utc("2025-06-05T00:00"))


def test_an_instance_with_a_past_ends(tmp_path: Path) -> None:
    apply_text(tmp_path, LAB % "{id: a}, {id: b}")
    seen(Instance.objects.get(external_id="b"))
    apply_text(tmp_path, LAB % "{id: a}", now=LATER, prune=True)
    row = Instance.objects.get(external_id="b", account__name="lab")
    assert row.state == "terminated"
    assert list(InstanceState.objects.filter(instance=row, end=None).values_list("start", "state")) == [
        (LATER, "terminated")
    ]
    back = apply_text(tmp_path, LAB % "{id: a}, {id: b}", now=LATER + timedelta(days=1))
    assert names(back, "created") == ["instance lab/b"]
    assert Instance.objects.get(external_id="b", account__name="lab").state == "running"


def test_an_account_with_a_past_is_shut(tmp_path: Path) -> None:
    apply_text(tmp_path, LAB % "{id: a}")
    seen(Instance.objects.get())
    assert names(apply_text(tmp_path, EMPTY, now=LATER, prune=True), "removed") == ["account lab"]
    account = Account.objects.get()
    assert (account.removed_at, account.declared, Instance.objects.get().state) == (LATER, None, "terminated")
    assert apply_text(tmp_path, EMPTY, now=LATER, prune=True)["removed"] == []
    again = apply_text(tmp_path, LAB % "{id: a}", now=LATER + timedelta(days=1))
    assert (
        names(again, "changed") == ["account lab: group_minimums, kind, provider, removed_at, test"] or again["changed"]
    )
    assert Account.objects.get().removed_at is None
    assert Instance.objects.get().state == "running"


def test_a_team_with_recorded_hours_is_not_removed(tmp_path: Path) -> None:
    apply_text(tmp_path, "teams: [{name: nlp}]\n" + LAB % "{id: a}")
    make_months("fleet_gpuhour", [utc("2025-06-05T00:00")])
    GpuHour.objects.create(hour=utc("2025-06-05T00:00"), instance=Instance.objects.get(), team=Team.objects.get())
    with nothing_changes(), pytest.raises(Refused) as raised:
        apply_text(tmp_path, LAB % "{id: a}" + "\npolicies: [{name: new}]", prune=True)
    assert raised.value.code == "still_referenced"
    assert raised.value.exit_code == 4


def test_a_name_that_will_go_is_not_known(tmp_path: Path) -> None:
    apply_text(tmp_path, "teams: [{name: nlp}]\nchannels: [{name: mail, kind: email}]")
    text = "policies: [{name: p, select: {teams: [nlp]}}]\nroutes: [{channels: [mail]}]"
    from common.errors import BadInputs

    with nothing_changes(), pytest.raises(BadInputs) as raised:
        apply_text(tmp_path, text, prune=True)
    assert [error.code for error in raised.value.errors] == ["unknown_team", "unknown_channel"]
    assert len(apply_text(tmp_path, text)["created"]) == 2


def test_a_source_that_was_read_is_switched_off(tmp_path: Path) -> None:
    apply_text(tmp_path, "sources: [{name: main, kind: prometheus, url: 'http://p'}]")
    SourcePull.objects.create(source=Source.objects.get(), at=NOW, since=NOW, until=NOW)
    apply_text(tmp_path, EMPTY, prune=True)
    assert list(Source.objects.values_list("is_enabled", "declared")) == [(False, None)]
    result = apply_text(tmp_path, "sources: [{name: main, kind: prometheus, url: 'http://p'}]")
    assert names(result, "changed") == ["source main: enabled"]


def test_a_channel_with_deliveries_is_shut(tmp_path: Path) -> None:
    apply_text(tmp_path, "channels: [{name: mail, kind: email}]")
    message = Message.objects.create(kind="alert", subject="x", created_at=NOW)
    Delivery.objects.create(message=message, channel=Channel.objects.get(), due_at=NOW, first_due=NOW)
    apply_text(tmp_path, EMPTY, prune=True)
    assert Channel.objects.get().broken_reason == "removed from fleet.yaml"
    apply_text(tmp_path, "channels: [{name: mail, kind: email}]")
    assert Channel.objects.get().broken_at is None


def test_another_case_is_the_same_thing(tmp_path: Path) -> None:
    apply_text(tmp_path, "channels: [{name: mail, kind: email}]\nroutes: [{channels: [Mail]}]")
    result = apply_text(tmp_path, "channels: [{name: Mail, kind: email}]\nroutes: [{channels: [mail]}]")
    assert names(result, "changed") == ["channel Mail: name", "routes routes: routes"]
    assert result["warnings"] == []
    assert Channel.objects.get().name == "Mail"
