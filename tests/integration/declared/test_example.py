"""The example of the reference: accepted whole, kept whole, the same again changes nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from alerts.models import Channel, Route
from billing.models import Budget, Commitment, InstancePrice, Mapping, Price
from common.periods import BEGINNING
from config.declared.apply import apply_file
from fleet.models import (
    Account,
    Exemption,
    IdleRuleVersion,
    Instance,
    InstanceState,
    InstanceVersion,
    OwnershipRule,
    Policy,
    Source,
)
from people.models import AuditEvent, KeptSection, Organization, Team, User
from tests.support.declared import EXAMPLE, NOW, apply_text, names, nothing_changes, utc

pytestmark = pytest.mark.django_db

THINGS = [
    "organization Example Robotics",
    "team research",
    "team nlp",
    "team vision",
    "person lead@example.com",
    "person dev@example.com",
    "person finance@example.com",
    "idle_rule organization",
    "ownership ownership",
    "source main",
    "source probes",
    "account lab",
    "account burst",
    "instance lab/i-lab-1",
    "price aws p5.48xlarge H100-SXM5-80GB 8 us-east-1 on_demand instance_hour USD from 2025-06-01",
    "price aws gp3 gb_month USD from 2025-01-01",
    "price lambda H100-SXM5-80GB on_demand gpu_hour USD from 2026-01-01",
    "commitment cw-2026",
    "policy dev",
    "policy batch",
    "exemption i-lab-1",
    "budget nlp monthly",
    "channel team-slack",
    "channel mail",
    "channel hook",
    "routes routes",
    "mapping daily",
    "mapping slurm-jobs",
]


def test_everything_is_made_once() -> None:
    result = apply_file(EXAMPLE, now=NOW).as_json()
    assert names(result, "created") == THINGS
    assert [(warning["code"], warning["where"]["key"]) for warning in result["warnings"]] == [
        ("enforce_without_backtest", "policies[0].mode")
    ]
    assert (result["changed"], result["removed"], result["unchanged"]) == ([], [], 0)
    again = apply_file(EXAMPLE, now=NOW).as_json()
    assert (again["created"], again["changed"], again["removed"], again["unchanged"]) == ([], [], [], len(THINGS))


def test_a_dry_run_says_the_same_and_writes_nothing() -> None:
    with nothing_changes():
        planned = apply_file(EXAMPLE, now=NOW, dry_run=True).as_json()
    assert planned == apply_file(EXAMPLE, now=NOW).as_json()


def scalars(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    if isinstance(node, dict):
        for key, value in node.items():
            yield from scalars(value, (*path, key))
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from scalars(value, (*path, number))
    elif node is not None:
        yield path, str(node)


def test_nothing_of_the_file_is_lost() -> None:
    """Every value that the file names stands in some row (durations and dates in their plain form)."""
    apply_file(EXAMPLE, now=NOW)
    models: tuple[Any, ...] = (
        Organization,
        Team,
        User,
        Source,
        Account,
        Price,
        Commitment,
        Policy,
        Exemption,
        Budget,
        Mapping,
    )
    kept: list[Any] = [row.declared for model in models for row in model._default_manager.all()]
    kept += [row.spec for row in Account.objects.all()] + [row.spec for row in IdleRuleVersion.objects.all()]
    kept += [row.declared_set for row in OwnershipRule.objects.all()]
    kept += [row.declared for model in (Channel, Route) for row in model._default_manager.all()]
    words = {value for _, value in scalars(kept)}
    plain = {"60m": "1h", "105m": "1h45m", "120m": "2h", "true": "True", "false": "False", "success": "success"}
    raw = yaml.load(EXAMPLE.read_text(encoding="utf-8"), Loader=yaml.BaseLoader)
    missing = {
        (path, value)
        for path, value in scalars(raw)
        if value not in ("null", "")
        and value not in words
        and plain.get(value) not in words
        and f"{value}T00:00:00Z" not in words
    }
    assert missing == set()


def test_the_instance_is_there_from_the_beginning() -> None:
    apply_file(EXAMPLE, now=NOW)
    row = Instance.objects.get()
    assert row.account is not None
    assert (row.account.name, row.external_id, row.host, row.state, row.gpu_count) == (
        "lab",
        "i-lab-1",
        "node-1",
        "running",
        8,
    )
    assert row.launched_at == row.last_started_at == utc("2025-06-02T08:00")
    assert row.team == Team.objects.get(name="nlp")
    version = InstanceVersion.objects.get()
    assert (version.instance, version.valid_from) == (row, BEGINNING)
    assert version.attributes == {
        "provider": "on-prem",
        "host": "node-1",
        "gpu_model": "H100-SXM5-80GB",
        "gpu_count": 8,
        "purchase_option": "on_demand",
        "profile": "interactive",
        "local_disk": False,
        "protected": False,
        "owner": "dev@example.com",
        "tags": {"team": "nlp"},
        "disks": [{"size_gb": "500", "price_per_gb_month": "0.08", "from": "2025-06-02T00:00:00Z"}],
    }
    assert list(InstanceState.objects.values_list("start", "end", "state")) == [
        (utc("2025-06-02T08:00"), None, "running")
    ]
    price = InstancePrice.objects.get()
    assert (price.valid_from, price.price_per_hour, price.currency) == (BEGINNING, Decimal("16.00"), "USD")


def test_people_have_their_roles_and_no_password() -> None:
    apply_file(EXAMPLE, now=NOW)
    grants = {
        (user.email, grant.role, grant.team and grant.team.name)
        for user in User.objects.all()
        for grant in user.grants.all()
    }
    assert grants == {
        ("lead@example.com", "team_lead", "nlp"),
        ("dev@example.com", "engineer", "nlp"),
        ("finance@example.com", "finance", None),
    }
    assert not any(user.has_usable_password() for user in User.objects.all())


def test_an_event_tells_what_was_done_and_no_secret() -> None:
    apply_file(EXAMPLE, now=NOW, by="admin@example.com")
    event = AuditEvent.objects.get()
    assert (event.at, event.by, event.action, event.subject) == (
        NOW,
        "admin@example.com",
        "apply",
        "fleet-example.yaml",
    )
    assert event.details["counts"] == {"created": len(THINGS)}
    assert event.details["changes"][0] == {
        "verb": "created",
        "kind": "organization",
        "name": "Example Robotics",
        "fields": [],
    }
    assert "SLACK_URL" not in json.dumps(event.details)


def test_reserved_sections_are_kept_as_they_are(tmp_path: Path) -> None:
    text = """
        leases: [{instance: i-1, hours: 72}]
        schedules: {nights: "off"}
        profiles: [{name: research-dev}]
        allocation:
        fx_rates: [{from: EUR, to: USD, rate: "1.10", at: 2025-06-01}]
        hooks: {before_stop: [echo]}
        calendars: []
        accounts:
          - {name: lab, kind: static, provider: on-prem, instances: [{id: i-1, profile: research-dev}]}
        """
    assert names(apply_text(tmp_path, text), "created")[2:] == [
        "section leases",
        "section schedules",
        "section profiles",
        "section allocation",
        "section fx_rates",
        "section hooks",
        "section calendars",
    ]
    kept = dict(KeptSection.objects.values_list("name", "content"))
    assert kept["leases"] == [{"instance": "i-1", "hours": "72"}]
    assert kept["fx_rates"] == [{"from": "EUR", "to": "USD", "rate": "1.10", "at": "2025-06-01"}]
    assert kept["allocation"] is None
    assert apply_text(tmp_path, text)["unchanged"] == 9


OPTIONAL = """
    sources:
      - {name: a, kind: prometheus, url: "http://p:9090", auth: {bearer: env:PROM_TOKEN},
         scrape_interval: 30s, selector: 'cluster="a"'}
      - {name: b, kind: prometheus, url: "http://p:9090", auth: {basic: {user: u, password: env:P}}, timeout: 20s}
      - {name: c, kind: prometheus, url: "http://p:9090", auth: {header: {X-Scope-OrgID: t}}}
      - {name: d, kind: prometheus, url: "http://p:9090", enabled: false,
         auth: {mtls: {cert: file:/c, key: file:/k, ca: file:/a}}}
    accounts:
      - {name: lab, kind: static, provider: aws, group_minimums: {pool-a: 2}, instances: [
          {id: i-1, currency: EUR, price_per_hour: "3.06", region: eu-west-1, zone: eu-west-1a, sku: p5.48xlarge,
           sub_account: ml-1, labels: {pool: a}, group: pool-a, state: stopped, launched_at: 2025-06-02T08:00:00Z,
           stopped_at: 2025-06-03T09:00:00Z}]}
      - {name: cloud, kind: http, provider: burst-cloud, base_url: "http://127.0.0.1:8099", test: true, create: yes,
         list: {method: GET, path: /v1/instances, states: {running: RUNNING},
                fields: {id: id, purchase_option: kind, disk_gb: disk, currency: ccy}}}
    policies:
      - {name: old, select: {tags: {workload: dev}}, approval: admin, destroys: admin@example.com,
         act_in: working_hours,
         ladder: [{stopped_for: 3d, do: notify}, {stopped_for: 7d, do: terminate}], min_confidence: high, grace: 0m}
      - {name: dry, ladder: [{after: 0m, do: dry_run}, {after: 1h, do: notify}, {after: 1h, do: scale_to_zero}]}
    budgets:
      - {name: q, period: custom, from: 2025-01-01, to: 2025-04-01, amount: 0}
      - {name: h, gpu_hours: 1000, period: quarter, account: lab}
      - {name: p, project: ml-1, amount: 5, at_limit: freeze_leases, thresholds: {actual: 80}}
    channels:
      - {name: mail, kind: email, to: finance@example.com}
      - {name: local, kind: slack_webhook, url: "http://127.0.0.1:9/slack", test: true, counts_as_notice: true}
    prices:
      - {gpu_model: H100-SXM5-80GB, price_per_hour: "2", unit: gpu_hour, valid_to: 2025-06-01}
      - {gpu_model: H100-SXM5-80GB, price_per_hour: "3", unit: gpu_hour, valid_from: 2025-06-01}
      - {gpu_model: H100-SXM5-80GB, price_per_hour: "3", unit: gpu_hour, currency: EUR}
    """


def test_every_optional_key_is_accepted_and_the_same_again_changes_nothing(tmp_path: Path) -> None:
    first = apply_text(tmp_path, OPTIONAL)
    assert len(first["created"]) == 17
    assert first["warnings"] == []
    again = apply_text(tmp_path, OPTIONAL)
    assert (again["created"], again["changed"], again["removed"], again["unchanged"]) == ([], [], [], 17)
