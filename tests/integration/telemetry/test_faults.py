"""A source that fails, in part or wholly, never makes a wrong number."""

from __future__ import annotations

import urllib.request
from collections.abc import Callable
from urllib.parse import quote

import pytest

from fleet.actions.collect import collect_source
from fleet.actions.intake import Intake
from fleet.domain.signals import Signal
from fleet.domain.slicing import Slice
from fleet.models import BadSample, Source, SourcePull
from tests.integration.telemetry.conftest import T0, Fleet, at
from tests.support.gpu_history import History, every
from tests.support.scripted_http import Answer, Request, ScriptedServer, json_answer

Make = Callable[..., Fleet]


class Between:
    """Stands between us and a real Prometheus: passes on, or answers what ``instead`` says."""

    def __init__(self, server: ScriptedServer, behind: str) -> None:
        self.behind = behind
        self.instead: Callable[[str], Answer | None] = lambda query: None
        self.seen: list[str] = []
        self.moment = 0.0  # at which the query being answered is evaluated
        server.respond = self.answer

    def answer(self, request: Request) -> Answer:
        asked = request.form if request.body else request.query
        query = asked.get("query", [""])[0]
        self.moment = float((asked.get("end") or asked.get("time") or ["0"])[0])
        self.seen.append(query)
        found = self.instead(query)
        if found is not None:
            return found
        text = "&".join(f"{name}={quote(value)}" for name, values in request.query.items() for value in values)
        url = f"{self.behind}{request.path}" + (f"?{text}" if text else "")
        with urllib.request.urlopen(urllib.request.Request(url, request.body or None)) as answer:
            return Answer(answer.status, answer.read(), {"Content-Type": "application/json"})


@pytest.fixture
def between(fleet_of: Make, scripted_http: ScriptedServer) -> tuple[Fleet, Between]:
    history = History()
    for number in range(1, 9):
        history.gpu(number, every(30, T0 + 5, T0 + 900), 10 * number)
        history.gpu(number, every(30, T0 + 5, T0 + 900), 100, name="DCGM_FI_DEV_POWER_USAGE")
    fleet = fleet_of(history)
    proxy = Between(scripted_http, fleet.source.spec["url"])
    fleet.source.spec["url"] = scripted_http.url
    fleet.source.save()
    return fleet, proxy


def test_down_is_an_error_in_the_pull(db: None) -> None:
    source = Source.objects.create(name="gone", kind="prometheus", spec={"url": "http://127.0.0.1:9"})
    result = collect_source(source.pk, now=at(300))
    assert result.error is not None
    assert (result.error.code, result.samples, result.is_partial) == ("source_down", 0, True)
    source.refresh_from_db()
    assert source.collected_until is None
    pull = SourcePull.objects.get()
    assert (pull.error_code, pull.until, pull.is_partial) == ("source_down", at(300), True)
    assert pull.error_hint


def test_a_missing_secret_is_an_error_in_the_pull(db: None) -> None:
    spec = {"url": "http://127.0.0.1:9", "auth": {"bearer": "env:NOT_SET_HERE"}}
    source = Source.objects.create(name="main", kind="prometheus", spec=spec)
    result = collect_source(source.pk, now=at(300))
    assert result.error is not None
    assert result.error.code == "secret_missing"


def test_warnings_make_a_pull_partial_and_do_not_advance(between: tuple[Fleet, Between]) -> None:
    fleet, proxy = between
    assert fleet.collect(300).is_partial is False
    empty = {"status": "success", "data": {"resultType": "matrix", "result": []}, "warnings": ["store x is down"]}
    proxy.instead = lambda query: json_answer(empty) if "DCGM" in query else None
    result = fleet.collect(900)
    assert (result.is_partial, result.warnings, result.error) == (True, ["store x is down"], None)
    fleet.source.refresh_from_db()
    assert fleet.source.collected_until == at(300)
    proxy.instead = lambda query: None
    assert fleet.collect(900).is_partial is False
    assert fleet.means(0, 900) == [[10 * number] * 3 for number in range(1, 9)]


def test_a_partial_answer_never_replaces_a_full_one(between: tuple[Fleet, Between]) -> None:
    fleet, proxy = between
    fleet.collect(900)
    full = fleet.block(0, 900)
    cut = '{"status":"success","isPartial":true,"data":{"resultType":"matrix","result":[]}}'
    proxy.instead = lambda query: Answer(200, cut.encode()) if "POWER" in query else None
    SourcePull.objects.all().delete()
    assert fleet.backfill(0, 900).samples == 0
    again = fleet.block(0, 900)
    for signal in (Signal.GPU_UTIL, Signal.POWER_WATTS):
        assert again.mean[signal].tolist() == full.mean[signal].tolist()


def test_a_partial_answer_that_lost_the_busy_signal_does_not_say_quiet(
    fleet_of: Make, scripted_http: ScriptedServer
) -> None:
    history = History().gpu(1, every(30, T0 + 5, T0 + 900), 99)
    history.gpu(1, every(30, T0 + 5, T0 + 900), 0, name="DCGM_FI_PROF_SM_ACTIVE")  # broken: 0 while util is 99
    fleet = fleet_of(history)
    proxy = Between(scripted_http, fleet.source.spec["url"])
    fleet.source.spec["url"] = scripted_http.url
    fleet.source.save()
    lost = {"status": "success", "data": {"resultType": "matrix", "result": []}, "warnings": ["store x is down"]}
    proxy.instead = lambda query: json_answer(lost) if "GPU_UTIL" in query and "sum_over" in query else None
    assert fleet.backfill(0, 900).is_partial is True
    assert fleet.means(0, 900, Signal.SM_ACTIVE) == [[None] * 3]
    proxy.instead = lambda query: None
    assert fleet.backfill(0, 900).samples == 3
    assert (fleet.means(0, 900), fleet.means(0, 900, Signal.SM_ACTIVE)) == ([[99.0] * 3], [[0.0] * 3])


def test_what_is_whole_after_a_partial_slice_does_not_hide_it(
    between: tuple[Fleet, Between], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, proxy = between
    pieces = [Slice(T0 + 300, T0 + 300, T0 - 60, True), Slice(T0 + 600, T0 + 900, T0 + 240, True)]
    monkeypatch.setattr("fleet.actions.collect.plan_slices", lambda *args, **more: pieces)
    fleet.source.collected_until = at(0)
    fleet.source.save()
    cut = b'{"status":"success","isPartial":true,"data":{"resultType":"vector","result":[]}}'
    proxy.instead = lambda query: Answer(200, cut) if proxy.moment == T0 + 300 and "POWER" in query else None
    assert fleet.collect(900).is_partial is True
    fleet.source.refresh_from_db()
    assert fleet.source.collected_until == at(0)


def test_too_many_samples_halve_the_shard(between: tuple[Fleet, Between]) -> None:
    fleet, proxy = between
    too_many = json_answer(
        {"status": "error", "error": "query processing would load too many samples into memory"}, 422
    )
    proxy.instead = lambda query: too_many if "POWER" in query and "=~" not in query and "!~" not in query else None
    result = fleet.backfill(0, 900)
    assert (result.error, result.is_partial, result.gpus, result.samples) == (None, False, 8, 24)
    assert fleet.means(0, 900) == [[10 * number] * 3 for number in range(1, 9)]


def test_a_shard_that_fails_leaves_the_others(between: tuple[Fleet, Between]) -> None:
    fleet, proxy = between
    too_many = json_answer({"status": "error", "error": "too many samples"}, 422)
    rejected = json_answer({"status": "error", "error": "broken"}, 400)

    def instead(query: str) -> Answer | None:
        if "POWER" not in query:
            return None
        return rejected if "!~" in query else too_many if "=~" not in query else None

    proxy.instead = instead
    result = fleet.backfill(0, 900)
    assert result.error is not None
    assert (result.error.code, result.is_partial, result.gpus, result.samples) == ("query_rejected", True, 7, 21)


def test_a_broken_login_stops_at_once(between: tuple[Fleet, Between]) -> None:
    fleet, proxy = between
    proxy.instead = lambda query: Answer(200, b"<html>sign in</html>") if "sum_over_time" in query else None
    result = fleet.collect(900)
    assert result.error is not None
    assert (result.error.code, result.samples, result.gpus) == ("login_page", 0, 0)


def test_the_pretended_now_is_told(between: tuple[Fleet, Between], scripted_http: ScriptedServer) -> None:
    fleet, _ = between
    collect_source(fleet.source.pk, now=at(930), scripted_at=at(930))
    assert {request.headers.get("Fleetledger-At") for request in scripted_http.requests} == {"2025-06-03T10:15:30Z"}


def test_dropped_values_are_counted_by_day(fleet_of: Make) -> None:
    history = History().gpu(1, every(30, T0 + 5, T0 + 275), 9).gpu(1, [T0 + 290], 4294967295)
    fleet = fleet_of(history)
    fleet.collect(300)
    fleet.collect(600)
    row = BadSample.objects.get()
    assert (str(row.day), row.kind, row.signal, row.count) == ("2025-06-03", "sentinel", "gpu_util", 1)


def test_a_second_source_of_the_same_gpus_is_told_and_changes_nothing(fleet_of: Make) -> None:
    fleet = fleet_of(History().gpu(1, every(30, T0 + 5, T0 + 900), 9))
    fleet.collect(600)
    other = Source.objects.create(name="other", kind="prometheus", spec=fleet.source.spec)
    result = collect_source(other.pk, now=at(900))
    assert (result.samples, result.warnings) == (0, ["duplicate_source: 1 GPUs are read from main already"])
    assert fleet.gpus()[0].source == fleet.source
    Source.objects.filter(pk=fleet.source.pk).update(is_enabled=False)
    assert collect_source(other.pk, now=at(900)).samples == 1
    assert fleet.gpus()[0].source == other


def test_late_points_are_read_again(between: tuple[Fleet, Between]) -> None:
    fleet, proxy = between
    nothing = json_answer({"status": "success", "data": {"resultType": "matrix", "result": []}})
    proxy.instead = lambda query: nothing if "DCGM" in query else None
    assert fleet.collect(600).samples == 0  # whole answers, the points had not arrived
    proxy.instead = lambda query: None
    assert fleet.collect(900).samples == 24
    proxy.seen.clear()
    assert fleet.collect(1200).samples == 0
    assert not any("sum_over_time" in query and "900" in query for query in proxy.seen)


def test_a_source_without_gpu_metrics_says_so(fleet_of: Make) -> None:
    fleet = fleet_of(History().add("node_load1", {"job": "x"}, [(t, 1) for t in every(30, T0, T0 + 600)]))
    (warning,) = fleet.collect(600).warnings
    assert warning.startswith("no_gpu_metrics: ")


@pytest.fixture
def spoilt(fleet_of: Make, scripted_http: ScriptedServer) -> tuple[Fleet, Between]:
    """A GPU with one value a sample that can't be."""
    history = History()
    for mark in (T0 + 300, T0 + 600, T0 + 900):
        history.gpu(1, every(30, mark - 295, mark - 20), 50).gpu(1, [mark - 10], 4_294_967_295)
    fleet = fleet_of(history)
    proxy = Between(scripted_http, fleet.source.spec["url"])
    fleet.source.spec["url"] = scripted_http.url
    fleet.source.save()
    return fleet, proxy


@pytest.mark.parametrize("door", ["collect", "backfill"])
def test_garbage_that_a_partial_pull_saw_is_counted_once(spoilt: tuple[Fleet, Between], door: str) -> None:
    fleet, proxy = spoilt
    fleet.source.collected_until = at(0)
    fleet.source.save()
    pull = {"collect": lambda: fleet.collect(900), "backfill": lambda: fleet.backfill(0, 900)}[door]
    cut = b'{"status":"success","isPartial":true,"data":{"resultType":"matrix","result":[]}}'
    proxy.instead = lambda query: Answer(200, cut) if "min_over_time" in query else None
    for _ in range(2):
        assert pull().is_partial is True
    proxy.instead = lambda query: None
    assert pull().is_partial is False
    assert pull().is_partial is False
    assert BadSample.objects.get().count == 3


def test_garbage_that_two_pulls_see_at_once_is_counted_once(
    spoilt: tuple[Fleet, Between], monkeypatch: pytest.MonkeyPatch
) -> None:
    fleet, _ = spoilt
    end_slice, inner = Intake.end_slice, iter([True])

    def meanwhile(self: Intake, piece: Slice) -> None:
        end_slice(self, piece)
        if next(inner, False):
            fleet.backfill(0, 900)

    monkeypatch.setattr(Intake, "end_slice", meanwhile)
    fleet.backfill(0, 900)
    assert SourcePull.objects.count() == 2
    assert BadSample.objects.get().count == 3
