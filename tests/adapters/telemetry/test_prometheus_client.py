"""What a Prometheus, or what stands before it, may answer: each is one clear error, or the whole answer."""

from __future__ import annotations

from pathlib import Path
from time import monotonic

import pytest

from common.errors import BadInput, OutsideFailed
from fleet.sources.prometheus.access import access_of
from fleet.sources.prometheus.client import PrometheusClient
from tests.support.certificates import Authority
from tests.support.processes import free_port
from tests.support.scripted_http import Answer, ScriptedServer, json_answer

VECTOR = {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}, "value": [1, "1"]}]}}


class Pauses(list[float]):
    """Notes how long the client would have waited."""

    def __call__(self, seconds: float) -> None:
        self.append(seconds)


@pytest.fixture
def pauses() -> Pauses:
    return Pauses()


@pytest.fixture
def client(scripted_http: ScriptedServer, pauses: Pauses) -> PrometheusClient:
    return PrometheusClient(scripted_http.url + "/prefix/", pause=pauses, read_seconds=0.4, max_body_bytes=2**20)


def test_a_query_is_a_form_that_keeps_its_size(client: PrometheusClient, scripted_http: ScriptedServer) -> None:
    scripted_http.answer(json_answer(VECTOR))
    query = "up" + " or up" * 4000
    assert client.query(query, 1748948400.5).data == VECTOR["data"]
    (asked,) = scripted_http.requests
    assert (asked.method, asked.path, asked.query) == ("POST", "/prefix/api/v1/query", {})
    assert asked.form == {"query": [query], "time": ["1748948400.5"], "timeout": ["25s"]}


def test_where_post_is_not_allowed_it_asks_by_get(client: PrometheusClient, scripted_http: ScriptedServer) -> None:
    scripted_http.answer(Answer(405), json_answer(VECTOR), json_answer(VECTOR))
    client.query("up", 1)
    client.query("up", 2)
    assert [request.method for request in scripted_http.requests] == ["POST", "GET", "GET"]
    assert scripted_http.requests[1].query["query"] == ["up"]


def test_warnings_and_partial_answers_are_kept(client: PrometheusClient, scripted_http: ScriptedServer) -> None:
    scripted_http.answer(json_answer({**VECTOR, "warnings": ["store down"], "infos": ["hm"], "isPartial": True}))
    body = client.query("up", 1)
    assert (body.warnings, body.infos, body.is_partial) == (["store down"], ["hm"], True)


HTML = b"<!DOCTYPE html><html><body>Sign in</body></html>"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer(200, HTML, {"Content-Type": "text/html"}), "login_page"),
        (Answer(302, b"", {"Location": "/login"}), "login_page"),
        (Answer(401, HTML), "auth_failed"),
        (Answer(403, b"no"), "auth_forbidden"),
        (Answer(404, b"404 page not found"), "not_prometheus"),
        (Answer(200, b"hello"), "not_prometheus"),
        (Answer(200, b""), "source_failed"),
        (json_answer({"hello": 1}), "not_prometheus"),
        (
            json_answer({"status": "error", "error": "exceeded maximum resolution of 11,000 points"}, 400),
            "too_many_points",
        ),
        (
            json_answer({"status": "error", "error": "query processing would load too many samples"}, 422),
            "too_many_samples",
        ),
        (
            json_answer({"status": "error", "errorType": "422", "error": "the query length exceeds"}, 422),
            "range_too_long",
        ),
        (json_answer({"status": "error", "error": "query timed out in expression evaluation"}, 503), "query_timeout"),
        (json_answer({"status": "error", "error": "many-to-many matching not allowed"}, 422), "query_rejected"),
        (json_answer({"status": "error", "error": "parse error"}, 200), "query_rejected"),
        (Answer(200, b"x" * 65536, is_endless=True), "answer_too_big"),
        (Answer(200, b'{"status"', delay_seconds=2), "source_timeout"),
    ],
)
def test_failures_are_told_apart(
    client: PrometheusClient, scripted_http: ScriptedServer, answer: Answer, code: str
) -> None:
    scripted_http.default = answer
    with pytest.raises(OutsideFailed) as caught:
        client.query("up", 1)
    assert caught.value.code == code
    assert caught.value.hint
    assert len(scripted_http.requests) == 1  # none of these is cured by asking again


@pytest.mark.parametrize("is_tls", [False, True])
def test_a_body_that_trickles_is_hung_up_on(is_tls: bool, tmp_path: Path, pauses: Pauses) -> None:
    """No byte is late, so no timeout of the socket ends it; whole it would take 20 s."""
    own = Authority(tmp_path, "servers") if is_tls else None
    with ScriptedServer(own.serves() if own else None) as server:
        server.default = Answer(200, b" " * 1000, byte_delay_seconds=0.02)
        access = access_of({"mtls": {"ca": f"file:{own.own.cert}"}} if own else None)
        slow, begun = PrometheusClient(server.url, access, pause=pauses, read_seconds=0.4), monotonic()
        with pytest.raises(OutsideFailed) as caught:
            slow.query("up", 1)
        assert (caught.value.code, monotonic() - begun < 10) == ("source_timeout", True)
        server.default = json_answer(VECTOR)
        assert slow.query("up", 2).data == VECTOR["data"]  # on a connection of its own
        slow.close()


@pytest.mark.parametrize("data", [{}, "up", 5, [1], {"up": 1}])
def test_what_are_no_names(client: PrometheusClient, scripted_http: ScriptedServer, data: object) -> None:
    scripted_http.answer(json_answer({"status": "success", "data": data}))
    with pytest.raises(OutsideFailed) as caught:
        client.metric_names(0, 1)
    assert caught.value.code == "not_prometheus"


@pytest.mark.parametrize(
    ("answers", "waits"),
    [
        ([Answer(503, b"busy"), Answer(429, b"", {"Retry-After": "7"})], [1.0, 7.0]),
        ([Answer(429, b"", {"Retry-After": "9999"})], [30.0]),
        ([Answer(502, HTML), Answer(drops=True)], [1.0, 2.0]),
        ([Answer(200, b'{"status":"su', is_cut=True)], [1.0]),
    ],
)
def test_what_may_pass_is_asked_again(
    client: PrometheusClient, scripted_http: ScriptedServer, pauses: Pauses, answers: list[Answer], waits: list[float]
) -> None:
    scripted_http.answer(*answers, json_answer(VECTOR))
    assert client.query("up", 1).data == VECTOR["data"]
    assert pauses == waits


def test_it_gives_up_after_three_attempts(
    client: PrometheusClient, scripted_http: ScriptedServer, pauses: Pauses
) -> None:
    scripted_http.default = Answer(503, b"busy")
    with pytest.raises(OutsideFailed) as caught:
        client.query("up", 1)
    assert (caught.value.code, len(scripted_http.requests), len(pauses)) == ("source_overloaded", 3, 2)


def test_nobody_listens(pauses: Pauses) -> None:
    with pytest.raises(OutsideFailed) as caught:
        PrometheusClient(f"http://127.0.0.1:{free_port()}", pause=pauses).query("up", 1)
    assert (caught.value.code, "connection refused" in caught.value.message) == ("source_down", True)


@pytest.mark.parametrize(("url", "code"), [("ftp://127.0.0.1", "bad_url"), ("nothing", "bad_url")])
def test_what_is_no_url(url: str, code: str, pauses: Pauses) -> None:
    with pytest.raises(OutsideFailed) as caught:
        PrometheusClient(url, pause=pauses).query("up", 1)
    assert caught.value.code == code


def test_no_tls_there(scripted_http: ScriptedServer, pauses: Pauses) -> None:
    with pytest.raises(OutsideFailed) as caught:
        PrometheusClient(scripted_http.url.replace("http://", "https://"), pause=pauses).query("up", 1)
    assert caught.value.code == "tls_failed"


def test_credentials_are_named(scripted_http: ScriptedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROM_TOKEN", "t0ken")
    monkeypatch.setenv("PROM_PASSWORD", "pa55")
    scripted_http.default = json_answer(VECTOR)
    for auth in (
        {"bearer": "env:PROM_TOKEN"},
        {"basic": {"user": "u", "password": "env:PROM_PASSWORD"}},
        {"header": {"X-Scope-OrgID": "tenant", "X-Key": "env:PROM_TOKEN"}},
    ):
        access = access_of(auth)
        assert "t0ken" not in repr(access)
        assert "pa55" not in repr(access)
        PrometheusClient(scripted_http.url, access).query("up", 1)
    bearer, basic, header = (request.headers for request in scripted_http.requests)
    assert bearer["Authorization"] == "Bearer t0ken"
    assert basic["Authorization"] == "Basic dTpwYTU1"
    assert (header["X-Scope-OrgID"], header["X-Key"]) == ("tenant", "t0ken")


@pytest.mark.parametrize(
    "auth",
    [{"bearer": "t0ken"}, {"bearer": "env:SECRET_KEY"}, {"bearer": "env:NOT_SET_HERE"}, {"basic": {"user": "u"}}],
)
def test_written_or_missing_secrets_are_refused(auth: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        access_of(auth)


def test_a_password_in_the_url_is_told_to_nobody(scripted_http: ScriptedServer, pauses: Pauses) -> None:
    scripted_http.default = Answer(401)
    with pytest.raises(OutsideFailed) as caught:
        PrometheusClient(scripted_http.url.replace("//", "//me:pa55@"), pause=pauses).query("up", 1)
    assert "pa55" not in caught.value.message + caught.value.hint
