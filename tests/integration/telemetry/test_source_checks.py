"""What `doctor` says of a source to a newcomer: what is wrong, and what to do."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fleet.models import Source
from fleet.queries.source_checks import Check, check_source
from tests.integration.telemetry.conftest import T0, Fleet, at
from tests.support.gpu_history import History, every
from tests.support.scripted_http import Answer, ScriptedServer

Make = Callable[..., Fleet]


def rows(checks: list[Check]) -> list[tuple[str, bool, str]]:
    assert all(check.ok or (check.message and check.hint) for check in checks)
    return [(check.check, check.ok, check.code) for check in checks]


def test_all_is_well(fleet_of: Make) -> None:
    fleet = fleet_of(History().gpu(1, every(30, T0, T0 + 600), 1))
    fleet.collect(600)
    checks = check_source(fleet.source, now=at(620))
    assert rows(checks) == [
        ("source_reachable", True, "ok"),
        ("source_metrics", True, "ok"),
        ("source_on_time", True, "ok"),
    ]
    assert "DCGM exporter" in checks[1].message
    assert checks[2].message == "The newest point is 20 s old."


def test_other_spellings_are_recognised(fleet_of: Make) -> None:
    labels = {"uuid": "gpu-0457ad51", "hostname": "aks-1", "job": "j", "instance": "i:1"}
    fleet = fleet_of(History().add("dcgm_fi_dev_gpu_util", labels, [(t, 61) for t in every(30, T0, T0 + 600)]))
    checks = check_source(fleet.source, now=at(620))
    assert "lower-cased (Azure)" in checks[1].message


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("node_load1", "no_gpu_metrics", "dcgm-exporter"),
        ("acme_gpu_busy_percent", "unknown_gpu_metrics", "acme_gpu_busy_percent"),
    ],
)
def test_no_gpu_metrics(fleet_of: Make, name: str, code: str, said: str) -> None:
    fleet = fleet_of(History().add(name, {"job": "x"}, [(t, 1) for t in every(30, T0, T0 + 600)]))
    checks = check_source(fleet.source, now=at(620))
    assert rows(checks) == [("source_reachable", True, "ok"), ("source_metrics", False, code)]
    assert said in checks[1].message + checks[1].hint


def test_a_selector_that_matches_nothing(fleet_of: Make) -> None:
    fleet = fleet_of(History().gpu(1, every(30, T0, T0 + 600), 1), selector='cluster="b"')
    assert rows(check_source(fleet.source, now=at(620)))[-1] == ("source_metrics", False, "no_gpu_series")


@pytest.mark.parametrize(
    ("now", "code", "said"),
    [(600 + 3000, "source_late", "50 minutes old"), (600 - 3600, "clock_ahead", "60 minutes in")],
)
def test_clocks_that_differ(fleet_of: Make, now: float, code: str, said: str) -> None:
    fleet = fleet_of(History().gpu(1, every(30, T0, T0 + 600), 1))
    checks = check_source(fleet.source, now=at(now))
    assert rows(checks)[-1] == ("source_on_time", False, code)
    assert said in checks[-1].message
    assert "clock" in checks[-1].hint


@pytest.mark.parametrize(
    ("answer", "code"), [(Answer(200, b"<html>sign in</html>"), "login_page"), (Answer(401), "auth_failed")]
)
def test_a_door_before_it(db: None, scripted_http: ScriptedServer, answer: Answer, code: str) -> None:
    scripted_http.default = answer
    source = Source.objects.create(name="main", kind="prometheus", spec={"url": scripted_http.url})
    assert rows(check_source(source, now=at(0))) == [("source_reachable", False, code)]


def test_the_last_pull_is_told(fleet_of: Make) -> None:
    history = History().gpu(1, every(30, T0, T0 + 270), 1).gpu(1, [T0 + 290], 4294967295)
    fleet = fleet_of(history)
    fleet.collect(300)
    checks = check_source(fleet.source, now=at(300))
    assert (checks[-1].code, checks[-1].message) == ("bad_samples", "Dropped at the last pull: 1 sentinel.")
