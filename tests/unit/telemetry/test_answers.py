"""Answers are cut at their fixed places; whatever looks another way is read as the JSON it is, to the same arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pytest

from common.errors import OutsideFailed
from fleet.sources.prometheus.answers import Body, Series, read_document, series_of

ODD = r'a "]},{"metric": b } \ ü ],[ "result":[ "]]}]'


def answer(kind: str, result: list[dict[str, Any]], **more: Any) -> bytes:
    return orjson.dumps({"status": "success", "data": {"resultType": kind, "result": result}, **more})


def body_of(content: bytes) -> Body:
    found = read_document(content)
    assert found is not None
    document, begin, end = found
    return Body(document, "http://p", content if end else b"", begin, end)


def vector(*values: str, at: float = 1748948400) -> list[dict[str, Any]]:
    return [{"metric": {"UUID": f"GPU-{n}", "odd": ODD}, "value": [at, value]} for n, value in enumerate(values)]


def matrix(*points: list[list[Any]]) -> list[dict[str, Any]]:
    return [{"metric": {"UUID": f"GPU-{n}", "odd": ODD}, "values": own} for n, own in enumerate(points)]


def labels_of(series: Series) -> list[dict[str, str]]:
    return [series.labels(key) for key in series.keys]


def same(found: Series, wanted: Series) -> bool:
    return labels_of(found) == labels_of(wanted) and all(
        np.array_equal(getattr(found, name), getattr(wanted, name), equal_nan=name == "value")
        for name in ("length", "at", "value")
    )


VECTORS = [vector("1"), vector("0.1", "NaN", "+Inf", "9.223372036854776e+18"), vector("1", at=1748948400.123)]
MATRICES = [matrix([[1.5, "1"]]), matrix([[1, "1"], [31.123, "2.5"]], [[1, "NaN"]], [[2, "3"], [3, "4"], [4, "5"]])]
RESULTS = [*(("vector", one) for one in VECTORS), *(("matrix", one) for one in MATRICES)]
MORE: list[dict[str, Any]] = [{}, {"warnings": ['not "whole"', "down"]}, {"isPartial": True, "stats": {"rows": ["1"]}}]


@pytest.mark.parametrize(("kind", "result"), RESULTS)
@pytest.mark.parametrize("more", MORE)
def test_the_usual_form_is_cut(kind: str, result: list[dict[str, Any]], more: dict[str, Any]) -> None:
    content = answer(kind, result, **more)
    body = body_of(content)
    assert body.document["data"]["result"] == []  # so it was not read as a whole
    assert same(body.series(), series_of(result, ""))
    assert (body.warnings, body.is_partial) == (more.get("warnings", []), more.get("isPartial", False))
    assert body.data == orjson.loads(content)["data"]


@pytest.mark.parametrize(("kind", "result"), RESULTS)
def test_a_warning_that_looks_like_an_end_hides_nothing(kind: str, result: list[dict[str, Any]]) -> None:
    body = body_of(answer(kind, result, warnings=[ODD]))
    assert same(body.series(), series_of(result, ""))
    assert body.warnings == [ODD]


@pytest.mark.parametrize(("kind", "result"), RESULTS)
def test_another_form_gives_the_same(kind: str, result: list[dict[str, Any]]) -> None:
    content = orjson.dumps(
        {"data": {"result": result, "resultType": kind}, "status": "success"}, option=orjson.OPT_INDENT_2
    )
    assert same(body_of(content).series(), series_of(result, ""))


@pytest.mark.parametrize(
    "result",
    [
        [],
        [{"metric": {"a": "1"}, "histogram": [1, {"count": "1", "buckets": [[0, "1", "2", "1"]]}]}, *vector("1")],
        [{"metric": {}, "histogram": [1, {"count": "1"}]}, *vector("1")],
        [*vector("1"), *vector("2", at=7)],  # two times, as no server answers
        [{"value": [1, "1"], "metric": {"UUID": "GPU-1"}}],
    ],
)
def test_unusual_series_are_read_all_the_same(result: list[dict[str, Any]]) -> None:
    assert same(body_of(answer("vector", result)).series(), series_of(result, ""))


def test_what_is_no_table_has_no_series() -> None:
    assert body_of(b'{"status":"success","data":["up"]}').data == ["up"]
    assert not body_of(b'{"status":"success","data":{"resultType":"scalar","result":[1,"1"]}}').series().keys


@pytest.mark.parametrize(
    "broken",
    [
        b'{"metric":{"a":"1"},"value":[1,"1"]},{"metric":{"a"},"value":[1,"2"]}',
        b'{"metric":{"a":"1"},"value":[1,"1"]},{"metric":{"a":2},"value":[1,"2"]}',
        b'{"metric":{"a":"1"},"value":[1,"one"]},]{"metric":{"a":"2"},"value":[1,"2"]}',
        b'{"metric":{"a":"1"},"value":[1,"1"]}{"metric":{"a":"2"},"value":[1,"2"]}',
    ],
)
def test_broken_text_between_whole_ends_is_an_error(broken: bytes) -> None:
    head, tail = b'{"status":"success","data":{"resultType":"vector","result":[', b"]}}"
    with pytest.raises(OutsideFailed) as caught:
        labels_of(body_of(head + broken + tail).series())
    assert caught.value.code == "not_prometheus"
    assert read_document(head + broken) is None


@pytest.mark.parametrize(
    "data",
    [
        b"null",
        b"[]",
        b'["up"]',
        b'"up"',
        b"{}",
        b'{"result":[]}',
        b'{"resultType":"vector"}',
        b'{"resultType":["vector"],"result":[]}',
        b'{"resultType":"vector","result":{}}',
        b'{"resultType":"vector","result":[1]}',
        b'{"resultType":"vector","result":[{"metric":{},"value":null}]}',
        b'{"resultType":"vector","result":[{"metric":{},"value":[1]}]}',
        b'{"resultType":"vector","result":[{"metric":{},"value":[1,"one"]}]}',
        b'{"resultType":"matrix","result":[{"metric":{},"values":[[1,null]]}]}',
        b'{"resultType":"matrix","result":[{"metric":{},"values":[5]}]}',
        b'{"resultType":"matrix","result":[{"metric":{},"values":7}]}',
    ],
)
def test_success_without_a_result_is_not_an_empty_fleet(data: bytes) -> None:
    with pytest.raises(OutsideFailed) as caught:
        body_of(b'{"status":"success","data":' + data + b"}").series()
    assert caught.value.code == "not_prometheus"


def test_an_empty_result_may_be_written_as_null() -> None:
    assert not body_of(b'{"status":"success","data":{"resultType":"matrix","result":null}}').series().keys


@pytest.mark.parametrize(("written", "said"), [("late", ["late"]), (["a", 1], ["a", "1"]), (5, ["5"]), (None, [])])
def test_warnings_are_kept_however_they_are_written(written: object, said: list[str]) -> None:
    body = body_of(answer("vector", [], warnings=written, infos=written))
    assert (body.warnings, body.infos) == (said, said)


def test_an_error_beside_data_is_a_warning() -> None:
    body = body_of(answer("vector", vector("1"), error="one store is down", errorType="internal"))
    assert body.warnings == ["one store is down"]
