"""Answers of the query API: the envelope at once, the series when somebody takes them, straight into arrays.

A live pull reads some 500,000 series of a big fleet. As dictionaries they cost more than everything else that is done
with them, so an answer of the usual form is cut at its fixed places and only its numbers are read; the labels stay the
text they came as. Whatever has another form in any place is read as the JSON it is, to the same arrays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from fleet.sources.prometheus import failures

Ints = NDArray[np.int64]
Floats64 = NDArray[np.float64]

_NOTHING = object()
_OPEN, _METRIC = b'"result":[', b'{"metric":'
_FORMS = {  # end of a series; between labels and points
    "vector": (b'"]}', b',"value":['),
    "matrix": (b'"]]}', b',"values":[['),
}


@dataclass(frozen=True)
class Series:
    """The series of an answer, with their points one after the other.

    ``keys`` holds the labels of each as JSON text, ``length`` int64 [S] its points, ``at`` epoch seconds and ``value``
    float64 [P].
    """

    url: str
    keys: list[bytes]
    length: Ints
    at: Floats64
    value: Floats64

    def each(self) -> Iterator[tuple[bytes, Floats64, Floats64]]:
        """Give (labels as text, times, values) of one series after the other."""
        begin = 0
        for key, end in zip(self.keys, np.cumsum(self.length).tolist(), strict=True):
            yield key, self.at[begin:end], self.value[begin:end]
            begin = end

    def labels(self, key: bytes) -> dict[str, str]:
        """Read the labels of one of the series. Raises OutsideFailed for broken text."""
        try:
            labels = orjson.loads(key)
        except orjson.JSONDecodeError:
            labels = None
        if not isinstance(labels, dict) or not all(isinstance(value, str) for value in labels.values()):
            raise failures.not_json(key, self.url)
        return labels


@dataclass(frozen=True)
class Body:
    """A successful answer; ``warnings`` say that it is not whole.

    ``document`` is the answer as it was read: all of it, or all but the series, which are then between the bytes
    ``begin`` and ``end`` of ``content``.
    """

    document: dict[str, Any]
    url: str
    content: bytes = b""
    begin: int = 0
    end: int = 0

    @cached_property
    def data(self) -> Any:
        """The `data` member, as the JSON it is. Raises OutsideFailed when it is none."""
        if not self.content:
            return self.document.get("data")
        try:
            return orjson.loads(self.content)["data"]
        except (orjson.JSONDecodeError, TypeError, KeyError):
            raise failures.not_json(self.content, self.url) from None

    @property
    def warnings(self) -> list[str]:
        """What the source said of parts that are missing."""
        said = _texts(self.document.get("warnings"))
        error = self.document.get("error")  # beside data: it stands for the part that failed
        return [*said, str(error)] if error else said

    @property
    def infos(self) -> list[str]:
        """What the source advised."""
        return _texts(self.document.get("infos"))

    @property
    def is_partial(self) -> bool:
        """Whether the source said that something is missing."""
        return bool(self.document.get("isPartial"))

    def series(self) -> Series:
        """Give the series of a vector or matrix; none for a scalar or a string.

        Raises OutsideFailed for broken text, and for what is no answer to a query: "success" without a result must
        not pass for a source that has nothing.
        """
        data = self.document.get("data")
        kind = data.get("resultType") if isinstance(data, dict) else None
        if kind in ("scalar", "string"):
            return series_of((), self.url)
        if kind not in ("vector", "matrix"):
            raise failures.not_json(self.content or orjson.dumps(self.document), self.url)
        found = _cut(self.content[self.begin : self.end], kind, self.url) if self.content else None
        return found if found is not None else series_of(self._result(), self.url)

    def _result(self) -> Any:
        data = self.data
        return data.get("result", _NOTHING) if isinstance(data, dict) else _NOTHING


def _texts(said: Any) -> list[str]:
    """Give what should be a list of texts as one, whatever it is."""
    if not said:
        return []
    return [str(text) for text in said] if isinstance(said, list) else [str(said)]


def read_document(content: bytes) -> tuple[dict[str, Any], int, int] | None:
    """Read an answer: (document, begin, end), with the series left out of it where they stand by themselves.

    ``begin`` and ``end`` are 0 when nothing was left out. None: it is not the JSON of an answer.
    """
    begin = content.find(_OPEN) + len(_OPEN)
    if content.startswith(_METRIC, begin):
        for last, _ in _FORMS.values():
            end = content.rfind(last + b"]") + len(last)
            document = _loads(content[:begin] + content[end:]) if end > begin else None
            data = document.get("data") if document else None
            if document and isinstance(data, dict) and data.get("result") == []:
                return document, begin, end
    document = _loads(content)
    return None if document is None else (document, 0, 0)


def _loads(content: bytes) -> dict[str, Any] | None:
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return None
    return document if isinstance(document, dict) and "status" in document else None


def _cut(text: bytes, kind: str, url: str) -> Series | None:
    """Read series of the usual form; None where anything in them is unusual."""
    last, between = _FORMS[kind]
    if not (text.startswith(_METRIC) and text.endswith(last)):
        return None
    pieces = text[len(_METRIC) : -len(last)].split(last + b"," + _METRIC)
    if kind == "vector":  # all at one time, so that is looked for too
        between += pieces[0].partition(between)[2].partition(b'"')[0] + b'"'
    keys: list[bytes] = []
    points: list[bytes] = []
    for piece in pieces:
        key, found, rest = piece.partition(between)
        if not found or key[:1] != b"{" or key[-1:] != b"}":
            return None
        keys.append(key)
        points.append(rest)
    if b'"},"' in (labels := b" ".join(keys)) or b'{},"' in labels:  # more members than labels and points
        return None
    try:
        if kind == "matrix":
            return _matrix(keys, points, url)
        at = float(between.removeprefix(_FORMS[kind][1]).removesuffix(b',"'))
        value = np.fromiter(map(float, points), dtype=np.float64, count=len(points))
    except ValueError:  # something else than numbers
        return None
    return Series(url, keys, np.ones(len(keys), dtype=np.int64), np.full(len(keys), at), value)


def _matrix(keys: list[bytes], points: list[bytes], url: str) -> Series | None:
    """Read points of the form `t,"v"],[t,"v`, series by series. Raises ValueError for what is no number."""
    step, quote = b'"],[', b',"'
    length = np.fromiter((piece.count(step) + 1 for piece in points), dtype=np.int64, count=len(points))
    numbers = step.join(points).replace(step, b",").replace(quote, b",").split(b",")
    if len(numbers) != 2 * int(length.sum()):
        return None
    pairs = np.fromiter(map(float, numbers), dtype=np.float64, count=len(numbers)).reshape(-1, 2)
    return Series(url, keys, length, np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1]))


def series_of(result: Any, url: str) -> Series:
    """Turn the series of a JSON answer into arrays; native histograms carry no values and are left without points.

    ``result`` is a list of series, or null where a server writes an empty list so. Raises OutsideFailed for all else.
    """
    if result is not None and not isinstance(result, list | tuple):
        raise failures.not_json(b"no result", url)
    try:
        return _arrays(result or (), url)
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError):
        raise failures.not_json(b"no series", url) from None


def _arrays(result: Sequence[dict[str, Any]], url: str) -> Series:
    values = [series.get("values") or ([series["value"]] if "value" in series else []) for series in result]
    length = np.fromiter(map(len, values), dtype=np.int64, count=len(values))
    total = int(length.sum())
    points = list(chain.from_iterable(values))
    at = np.fromiter((point[0] for point in points), dtype=np.float64, count=total)
    value = np.fromiter((float(point[1]) for point in points), dtype=np.float64, count=total)
    return Series(url, [orjson.dumps(series.get("metric") or {}) for series in result], length, at, value)
