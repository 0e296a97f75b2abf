"""Every answer has the shape that the OpenAPI document promises: these keys, these types, no others."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from common.periods import iso
from config.api.document import openapi
from tests.support.api_more import add_more, save_a_view
from tests.support.api_world import ApiWorld, all_rows, api_world, fetched, metered_month, somebody

pytestmark = pytest.mark.django_db
MONTH = metered_month(datetime.now(UTC))
LISTS = {
    "/api/v1/instances/": "",
    "/api/v1/fleet/": "",
    "/api/v1/gpus/": "",
    "/api/v1/jobs/": "",
    "/api/v1/idle/": "",
    "/api/v1/findings/": "",
    "/api/v1/sources/": "",
    "/api/v1/alerts/": "",
    "/api/v1/deliveries/": "",
    "/api/v1/runtime/": f"?month={MONTH}",
    "/api/v1/prices/": "",
    "/api/v1/teams/": "",
    "/api/v1/people/": "",
    "/api/v1/audit/": "",
    "/api/v1/team-months/": "",
    "/api/v1/unassigned/": "",
    "/api/v1/claims/": "",
    "/api/v1/unseen/": "",
    "/api/v1/accounts/": "",
    "/api/v1/passes/": "",
    "/api/v1/invitations/": "",
    "/api/v1/roles/": "",
    "/api/v1/views/": "",
}
ONE = {
    "/api/v1/spend/": f"/api/v1/spend/?month={MONTH}",
    "/api/v1/instances/{account}/{external_id}/": "/api/v1/instances/lab/box-1001/",
    "/api/v1/jobs/{source}/{external_id}/": "/api/v1/jobs/-/job-1001/",
    "/api/v1/sources/{name}/": "/api/v1/sources/prom-main/",
    "/api/v1/settings/": "/api/v1/settings/",
}


@pytest.fixture
def world() -> ApiWorld:
    return api_world(datetime.now(UTC).replace(microsecond=0))


def strict(shape: Any) -> Any:
    """Let a shape allow its own keys only."""
    if isinstance(shape, dict):
        closed = {key: strict(value) for key, value in shape.items()}
        if "properties" in shape and shape.get("type") == "object":
            closed["additionalProperties"] = False
        return closed
    return [strict(one) for one in shape] if isinstance(shape, list) else shape


def validator(path: str) -> Draft202012Validator:
    document = openapi()
    answer = document["paths"][path]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    return Draft202012Validator({**strict(answer), "components": strict(document["components"])})


def test_every_route_of_the_document_is_looked_at() -> None:
    assert set(openapi()["paths"]) == {*LISTS, *ONE}


def test_answers_have_the_promised_shape(world: ApiWorld) -> None:
    user, client = somebody("ingrid@example.com", ("admin", None))
    add_more(world)
    save_a_view(user, world)
    for path in (*LISTS, *ONE):
        document = fetched(client, ONE.get(path) or f"{path}{LISTS[path]}")
        assert document.get("results", True), "an empty list proves nothing"
        errors = [f"{error.json_path}: {error.message}" for error in validator(path).iter_errors(document)]
        assert errors == [], path


def test_a_missing_or_foreign_key_would_be_seen(world: ApiWorld) -> None:
    _, client = somebody("ingrid@example.com", ("admin", None))
    document = fetched(client, "/api/v1/jobs/")
    document["results"][0]["surprise"] = 1
    del document["results"][0]["owner"]
    assert len(list(validator("/api/v1/jobs/").iter_errors(document))) == 2


def test_pages_hold_every_row_once_and_in_one_order(world: ApiWorld) -> None:
    user, client = somebody("ingrid@example.com", ("admin", None))
    add_more(world)
    save_a_view(user, world)
    for path, query in LISTS.items():
        whole = fetched(client, f"{path}{query}")
        assert whole["next"] is None
        for limit in (2, 3, len(whole["results"])):
            assert all_rows(client, f"{path}{query}", limit) == whole["results"], (path, limit)


def test_an_instance_is_as_judge_prints_it(world: ApiWorld) -> None:
    _, client = somebody("ingrid@example.com", ("admin", None))
    (one,) = fetched(client, "/api/v1/instances/?instance=box-1001")["results"]
    gpus, jobs, findings = one.pop("gpus"), one.pop("jobs"), one.pop("findings")
    since = world.machines["nlp"].launched_at
    assert since is not None
    idle_since = one.pop("since")
    assert idle_since.endswith("Z")
    sentence = one.pop("sentence")
    assert sentence.endswith("1501.88 USD so far, 1001.25 USD per hour.")
    assert one == {
        "instance": "box-1001", "account": "lab", "host": "box-1001", "provider": None, "team": "nlp",
        "owner": "owner-1001", "policy": None, "state": "held", "minutes": 90, "reason": "quiet_memory_held",
        "confidence": "high", "coverage_pct": 100.0, "peak_pct": 1.8, "mean_pct": 0.5, "signal": "sm_active",
        "currency": "USD", "price_per_hour": "1001.25", "idle_cost": "1501.88", "instance_state": "running",
        "exempt": None, "vetoes": [], "stopped_but_billed": False,
        "gpu_model": "H100", "gpu_count": 8, "sku": None, "region": None, "month_cost": {}, "month_has_unpriced": False,
        "used_pct": None,
    }  # fmt: skip
    assert len(gpus) == 8
    assert gpus[0] == {
        "uuid": "GPU-box-1001-0", "mig_instance": None, "index": 0, "model": "H100", "state": "held",
        "reason": "quiet_memory_held", "since": idle_since, "minutes": None, "coverage_pct": 100.0, "peak_pct": 1.8,
        "mean_pct": 0.5, "signal": "sm_active", "team": "nlp", "owner": "owner-1001", "jobs": ["job-1001"],
    }  # fmt: skip
    assert gpus[1]["jobs"] == []
    assert jobs == [
        {
            "id": "job-1001", "owner": "owner-1001", "team": "nlp", "state": None, "since": None, "minutes": None,
            "peak_pct": None, "mean_pct": None, "gpus": 1,
        }
    ]  # fmt: skip
    assert [(one["kind"], one["since"]) for one in findings] == [("idle", iso(since)), ("suspected_hang", iso(since))]


NAMES = {
    "?state=held&account=lab&host=BOX-1300": ["box-1300"],
    "?state=working": [],
    "?team=nlp": ["box-1001", "box-1020"],
    "?team=-": ["box-70707"],
    "?instance_state=stopped": [],
}


def test_filters_of_instances(world: ApiWorld) -> None:
    _, client = somebody("ingrid@example.com", ("admin", None))
    for query, names in NAMES.items():
        found = fetched(client, f"/api/v1/instances/{query}")["results"]
        assert [one["instance"] for one in found] == names, query


COUNTS = [
    ("gpus/?instance=box-1001&state=held&model=H100", 8), ("gpus/?uuid=GPU-box-1001-3", 1), ("gpus/?team=nlp", 16),
    ("jobs/?running=true&kind=slurm", 5), ("jobs/?running=false", 0), ("jobs/?owner=owner-1300", 1),
    ("jobs/?job=job-1001&team=nlp", 1), ("jobs/?since=2100-01-01T00:00:00Z", 0), ("findings/?kind=idle&open=true", 5),
    ("findings/?open=false", 0), ("findings/?subject_kind=job&subject=job-1001", 1), ("findings/?instance=box-4000", 2),
    ("alerts/?kind=idle&state=open&team=vision", 1), ("alerts/?until=2000-01-01T00:00:00Z", 0),
    ("deliveries/?channel=ops&state=sent&kind=alert", 5), ("deliveries/?subject=box-1001", 1), ("prices/?sku=p5", 1),
    ("prices/?suggested=true", 0), ("prices/?valid_at=2000-01-01T00:00:00Z", 0), ("audit/?action=apply", 1),
    ("audit/?by=system", 0), (f"runtime/?month={MONTH}&team=robotics", 1), ("teams/", 4),
]  # fmt: skip


def test_filters_choose_rows(world: ApiWorld) -> None:
    _, client = somebody("ingrid@example.com", ("admin", None))
    for address, count in COUNTS:
        assert len(fetched(client, f"/api/v1/{address}")["results"]) == count, address


def test_spend_pages_sum_to_the_totals(world: ApiWorld) -> None:
    _, client = somebody("ingrid@example.com", ("admin", None))
    rows, following = [], f"/api/v1/spend/?month={MONTH}&limit=2"
    while following:
        document = fetched(client, following)
        rows += document["rows"]
        following = document["next"]
    assert [row["key"]["team"] for row in rows] == ["nlp", "nlp-eval", "robotics", "vision", None]
    assert document["totals"] == {"USD": "78028.00"}
    assert sum(float(row["total"]) for row in rows) == 78028
    assert rows[-1]["special"] == "unassigned"


def test_team_of_an_alert_and_its_message(world: ApiWorld) -> None:
    _, client = somebody("ingrid@example.com", ("admin", None))
    (alert,) = fetched(client, "/api/v1/alerts/?team=vision")["results"]
    assert (alert["team"], alert["notices"], alert["subject"]) == (
        "vision", 1, {"kind": "instance", "id": "box-1300", "account": "lab"},
    )  # fmt: skip
    (delivery,) = fetched(client, "/api/v1/deliveries/?team=vision")["results"]
    assert delivery["alerts"] == [alert["id"]]
    assert [one["outcome"] for one in delivery["attempts"]] == ["accepted"]
