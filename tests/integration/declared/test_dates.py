"""Since when what is declared holds: first declarations always, changes from their date. The past never moves."""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from billing.models import InstancePrice, Price
from common.periods import BEGINNING
from fleet.actions.inventory import sync_account
from fleet.models import (
    Account,
    ChangedHour,
    IdleRuleVersion,
    Instance,
    InstanceState,
    InstanceVersion,
    MeteredSpan,
    OwnershipRule,
    Policy,
)
from fleet.queries.ownership import Resolver
from fleet.queries.policies import idle_rule
from people.models import Team
from tests.support.declared import NOW, apply_text, names, utc

pytestmark = pytest.mark.django_db
LATER = NOW + timedelta(days=6)

FLEET = """
    organization: {{name: Lab, currency: USD}}
    teams: [{{name: red}}, {{name: blue}}]
    ownership: {ownership}
    accounts:
      - {{name: lab, kind: static, provider: on-prem, instances: [{{id: r-9, host: r-9, {instance}}}]}}
    """


def fleet(instance: str = "tags: {team: red}", ownership: str = "[{team_from: {tag: team}}]", more: str = "") -> str:
    return FLEET.format(instance=instance, ownership=ownership) + more


def team_at(at: datetime) -> str | None:
    team_id = Resolver(at).owned(Instance.objects.get().pk, None, at).team_id
    return Team.objects.get(pk=team_id).name if team_id else None


def metered(start: str = "2025-06-01T00:00", until: str = "2025-06-20T00:00") -> None:
    """Say that the instance was metered, and forget all marks."""
    MeteredSpan.objects.create(instance=Instance.objects.get(), start=utc(start), until=utc(until))
    ChangedHour.objects.all().delete()


def marked() -> tuple[datetime, datetime, int] | None:
    hours = sorted(ChangedHour.objects.values_list("hour", flat=True))
    return (hours[0], hours[-1], len(hours)) if hours else None


def test_a_change_of_team_holds_from_the_apply(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet())
    metered()
    result = apply_text(tmp_path, fleet("tags: {team: blue}"), now=utc("2025-06-16T00:30"))
    assert names(result, "changed") == ["instance lab/r-9: tags"]
    assert [team_at(utc(day)) for day in ("2025-06-01T00:00", "2025-06-16T00:29", "2025-06-16T00:30")] == [
        "red",
        "red",
        "blue",
    ]
    assert marked() == (utc("2025-06-16T00:00"), utc("2025-06-19T23:00"), 96)
    assert Instance.objects.get().team == Team.objects.get(name="blue")


def test_a_change_may_say_its_date(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet())
    metered()
    apply_text(tmp_path, fleet("tags: {team: blue}, valid_from: 2025-06-05"), now=LATER)
    assert [team_at(utc(day)) for day in ("2025-06-04T23:59", "2025-06-05T00:00")] == ["red", "blue"]
    assert marked() == (utc("2025-06-05T00:00"), utc("2025-06-19T23:00"), 15 * 24)
    assert apply_text(tmp_path, fleet("tags: {team: blue}, valid_from: 2025-06-05"), now=LATER)["changed"] == []


def test_a_change_that_lies_ahead_waits(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet())
    apply_text(tmp_path, fleet("tags: {team: blue}, valid_from: 2025-06-20"))
    account_id = Account.objects.get().pk
    sync_account(account_id, now=NOW + timedelta(minutes=5))
    assert InstanceVersion.objects.count() == 2
    assert [team_at(utc(day)) for day in ("2025-06-19T23:59", "2025-06-20T00:00")] == ["red", "blue"]
    assert Instance.objects.get().attributes["tags"] == {"team": "red"}
    sync_account(account_id, now=utc("2025-06-20T00:05"))
    assert Instance.objects.get().attributes["tags"] == {"team": "blue"}


def test_the_same_again_marks_nothing(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet())
    metered()
    apply_text(tmp_path, fleet(), now=LATER)
    assert marked() is None


def test_first_rules_hold_always_and_later_ones_from_the_apply(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet(ownership="[{team: red}]"))
    metered()
    result = apply_text(tmp_path, fleet(ownership="[{team: blue}]"), now=LATER)
    assert names(result, "changed") == ["ownership ownership: rules"]
    assert [team_at(at) for at in (BEGINNING, LATER - timedelta(seconds=1), LATER)] == ["red", "red", "blue"]
    assert marked() == (utc("2025-06-16T12:00"), utc("2025-06-19T23:00"), 84)


def test_a_rule_may_say_since_when_it_takes_part(tmp_path: Path) -> None:
    dated = "[{team: blue, valid_from: 2025-06-05, match: {host: r-9}}, {team: red}]"
    apply_text(tmp_path, fleet(ownership="[{team: red}]"))
    metered()
    apply_text(tmp_path, fleet(ownership=dated), now=LATER)
    assert [team_at(utc(day)) for day in ("2025-06-04T23:59", "2025-06-05T00:00", "2025-07-01T00:00")] == [
        "red",
        "blue",
        "blue",
    ]
    assert marked() == (utc("2025-06-05T00:00"), utc("2025-06-19T23:00"), 15 * 24)
    assert apply_text(tmp_path, fleet(ownership=dated), now=LATER)["changed"] == []
    assert OwnershipRule.objects.count() == 3


def test_rules_that_are_taken_away_assign_nothing_from_then_on(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet(ownership="[{team: red}]"))
    apply_text(tmp_path, fleet(ownership="[]"), now=LATER)
    assert [team_at(at) for at in (NOW, LATER)] == ["red", None]


def test_a_new_team_takes_what_was_tagged_with_its_name_before(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet("tags: {team: green}"))
    assert team_at(NOW) is None
    apply_text(tmp_path, fleet("tags: {team: green}").replace("{name: blue}", "{name: Green}"))
    assert team_at(NOW) == "Green"


IDLE = "\n    organization: {{name: Lab, idle: {{window: {}{}}}}}"


def test_the_idle_rule_is_dated(tmp_path: Path) -> None:
    assert idle_rule(NOW)["window"] == "1h"
    assert "idle_rule organization" in names(apply_text(tmp_path, IDLE.format("2h", "")), "created")
    result = apply_text(tmp_path, IDLE.format("3h", ""), now=LATER)
    assert names(result, "changed") == ["idle_rule organization: window"]
    assert [idle_rule(at)["window"] for at in (BEGINNING, LATER - timedelta(seconds=1), LATER)] == ["2h", "2h", "3h"]
    apply_text(tmp_path, IDLE.format("4h", ", valid_from: 2025-06-12"), now=LATER)
    assert list(IdleRuleVersion.objects.order_by("valid_from").values_list("valid_from", flat=True)) == [
        BEGINNING,
        utc("2025-06-12T00:00"),
    ]


def test_an_idle_rule_that_is_not_named_stays(tmp_path: Path) -> None:
    apply_text(tmp_path, IDLE.format("2h", ""))
    apply_text(tmp_path, "organization: {name: Lab}", now=LATER)
    assert idle_rule(LATER)["window"] == "2h"


def test_the_price_of_an_instance_is_dated(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet('price_per_hour: "16.00"'))
    result = apply_text(tmp_path, fleet('price_per_hour: "12.50", currency: EUR'), now=LATER)
    assert names(result, "changed") == ["instance lab/r-9: currency, price_per_hour"]
    apply_text(tmp_path, fleet("gpu_count: 8"), now=LATER + timedelta(days=1))
    rows = InstancePrice.objects.order_by("valid_from")
    assert list(rows.values_list("valid_from", "price_per_hour", "currency")) == [
        (BEGINNING, Decimal("16.00"), "USD"),
        (LATER, Decimal("12.50"), "EUR"),
        (LATER + timedelta(days=1), None, "USD"),
    ]


def states() -> list[tuple[Any, ...]]:
    return list(InstanceState.objects.order_by("instance_id", "start").values_list("start", "end", "state"))


def test_a_stopped_one_without_times_never_ran(tmp_path: Path) -> None:
    apply_text(
        tmp_path, fleet("state: stopped, launched_at: 2025-06-02T08:00:00Z, last_started_at: 2025-06-02T08:00:00Z")
    )
    assert states() == [(utc("2025-06-02T08:00"), None, "stopped")]
    assert Instance.objects.get().state == "stopped"


def test_a_later_apply_stops_and_starts_it(tmp_path: Path) -> None:
    launched = "launched_at: 2025-06-02T08:00:00Z"
    apply_text(tmp_path, fleet(launched))
    metered()
    apply_text(tmp_path, fleet(f"{launched}, state: stopped"), now=utc("2025-06-16T10:20"))
    assert marked() == (utc("2025-06-16T10:00"), utc("2025-06-19T23:00"), 86)
    apply_text(
        tmp_path,
        fleet(f"{launched}, state: running, last_started_at: 2025-06-18T07:00:00Z"),
        now=utc("2025-06-18T09:00"),
    )
    assert states() == [
        (utc("2025-06-02T08:00"), utc("2025-06-16T10:20"), "running"),
        (utc("2025-06-16T10:20"), utc("2025-06-18T07:00"), "stopped"),
        (utc("2025-06-18T07:00"), None, "running"),
    ]
    row = Instance.objects.get()
    assert (row.state, row.last_started_at) == ("running", utc("2025-06-18T07:00"))


def test_a_history_plays_along_with_the_clock(tmp_path: Path) -> None:
    entries = [("2025-06-02", "running"), ("2025-06-12", "stopped"), ("2025-06-14", "running")]
    history = f"history: [{', '.join(f'{{at: {day}, state: {state}}}' for day, state in entries)}]"
    apply_text(tmp_path, fleet(history))
    row, account_id = Instance.objects.get(), Account.objects.get().pk
    assert row.state == "running"
    for at, state, started in (
        ("2025-06-13T00:00", "stopped", "2025-06-02T00:00"),
        ("2025-06-15T00:00", "running", "2025-06-14T00:00"),
    ):
        sync_account(account_id, now=utc(at))
        row.refresh_from_db()
        assert (row.state, row.last_started_at) == (state, utc(started))
    assert [run[2] for run in states()] == ["running", "stopped", "running"]


def test_a_later_launch_is_another_machine(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet("launched_at: 2025-06-02T08:00:00Z"))
    apply_text(tmp_path, fleet("launched_at: 2025-06-14T08:00:00Z"), now=LATER)
    assert list(Instance.objects.order_by("pk").values_list("launched_at", "state")) == [
        (utc("2025-06-02T08:00"), "terminated"),
        (utc("2025-06-14T08:00"), "running"),
    ]
    assert states() == [
        (utc("2025-06-02T08:00"), utc("2025-06-14T08:00"), "running"),
        (utc("2025-06-14T08:00"), None, "terminated"),
        (utc("2025-06-14T08:00"), None, "running"),
    ]
    assert apply_text(tmp_path, fleet("launched_at: 2025-06-14T08:00:00Z"), now=LATER)["changed"] == []


PRICES = "prices: [{{gpu_model: H100, unit: gpu_hour, price: '{}'{}}}]"


def prices() -> list[tuple[Any, ...]]:
    return list(Price.objects.order_by("valid_from", "pk").values_list("valid_from", "valid_to", "price"))


def test_a_price_without_a_date_ends_where_another_begins(tmp_path: Path) -> None:
    apply_text(tmp_path, PRICES.format("2.00", ""))
    assert names(apply_text(tmp_path, PRICES.format("3.00", ""), now=LATER), "changed") == [
        "price H100 gpu_hour USD: price"
    ]
    assert prices() == [(BEGINNING, LATER, Decimal(2)), (LATER, None, Decimal(3))]
    assert apply_text(tmp_path, PRICES.format("3.00", ""), now=LATER + timedelta(days=1))["unchanged"] == 1


def test_a_price_that_moves_with_its_date_follows_the_old_one(tmp_path: Path) -> None:
    apply_text(tmp_path, PRICES.format("2.00", ", valid_from: 2025-01-01"))
    result = apply_text(tmp_path, PRICES.format("3.00", ", valid_from: 2025-06-15"), now=LATER)
    assert names(result, "changed") == ["price H100 gpu_hour USD from 2025-06-15: price, valid_from"]
    assert prices() == [
        (utc("2025-01-01T00:00"), utc("2025-06-15T00:00"), Decimal(2)),
        (utc("2025-06-15T00:00"), None, Decimal(3)),
    ]
    assert apply_text(tmp_path, PRICES.format("3.00", ", valid_from: 2025-06-15"), now=LATER)["warnings"] == []


def test_a_price_that_keeps_its_date_is_corrected(tmp_path: Path) -> None:
    apply_text(tmp_path, PRICES.format("2.00", ", valid_from: 2025-01-01"))
    apply_text(tmp_path, PRICES.format("2.10", ", valid_from: 2025-01-01"), now=LATER)
    assert prices() == [(utc("2025-01-01T00:00"), None, Decimal("2.1"))]


def test_a_price_that_leaves_the_file_ends(tmp_path: Path) -> None:
    apply_text(tmp_path, PRICES.format("2.00", ""))
    kept = apply_text(tmp_path, "organization: {name: Lab}", now=LATER)
    assert [warning["code"] for warning in kept["warnings"]] == ["no_longer_declared"]
    result = apply_text(tmp_path, "organization: {name: Lab}", now=LATER, prune=True)
    assert names(result, "removed") == ["price H100 gpu_hour USD"]
    assert prices() == [(BEGINNING, LATER, Decimal(2))]
    again = apply_text(tmp_path, "organization: {name: Lab}", now=LATER, prune=True)
    assert (again["removed"], again["warnings"]) == ([], [])


def test_two_prices_in_turn(tmp_path: Path) -> None:
    text = """
        prices:
          - {gpu_model: H100, unit: gpu_hour, price: '2', valid_to: 2025-06-15}
          - {gpu_model: H100, unit: gpu_hour, price: '3', valid_from: 2025-06-15}
        """
    apply_text(tmp_path, PRICES.format("2", ""))
    result = apply_text(tmp_path, text, now=LATER)
    assert (names(result, "created"), names(result, "changed")) == (
        ["price H100 gpu_hour USD from 2025-06-15"],
        ["price H100 gpu_hour USD: valid_to"],
    )
    assert prices() == [(BEGINNING, utc("2025-06-15T00:00"), Decimal(2)), (utc("2025-06-15T00:00"), None, Decimal(3))]
    assert apply_text(tmp_path, text, now=LATER)["unchanged"] == 2


def test_a_changed_policy_is_a_new_version(tmp_path: Path) -> None:
    two = "policies: [{name: a, grace: %s}, {name: b}]"
    apply_text(tmp_path, two % "15m")
    assert names(apply_text(tmp_path, two % "20m"), "changed") == ["policy a: grace"]
    assert names(apply_text(tmp_path, "policies: [{name: b}, {name: a, grace: 20m}]"), "changed") == [
        "policy b: position",
        "policy a: position",
    ]
    assert list(Policy.objects.values_list("name", "version")) == [("b", 1), ("a", 2)]


def test_dates_begin_in_the_organisations_zone(tmp_path: Path) -> None:
    apply_text(
        tmp_path,
        "organization: {name: Lab, time_zone: Asia/Kolkata}\n" + PRICES.format("2", ", valid_from: 2025-06-15"),
    )
    assert prices()[0][0] == utc("2025-06-14T18:30")
    apply_text(
        tmp_path, PRICES.format("2", ", valid_from: 2025-06-15")
    )  # the zone that is there holds where none is named
    assert prices()[0][0] == utc("2025-06-14T18:30")


def test_another_provider_of_the_account_is_dated_too(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet())
    result = apply_text(tmp_path, fleet().replace("on-prem", "aws"), now=LATER)
    assert names(result, "changed") == ["account lab: provider"]
    versions = InstanceVersion.objects.order_by("valid_from").values_list("valid_from", "attributes__provider")
    assert list(versions) == [(BEGINNING, "on-prem"), (LATER, "aws")]


def test_a_list_that_stays_is_read_once(tmp_path: Path) -> None:
    apply_text(tmp_path, fleet("history: [{at: 2025-06-02, state: running}, {at: 2025-06-12, state: stopped}]"))
    account_id = Account.objects.get().pk
    assert sync_account(account_id, now=NOW + timedelta(minutes=5)) == []
    assert len(sync_account(account_id, now=utc("2025-06-12T00:00"))) == 1
    assert sync_account(account_id, now=utc("2030-01-01T00:00")) == []
    assert len(sync_account(account_id, now=NOW)) == 1  # a replay that begins earlier
