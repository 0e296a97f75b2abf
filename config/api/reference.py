"""The OpenAPI document as the page of docs shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

MOST_LEVELS = 4


@dataclass(frozen=True)
class ParameterRow:
    """A parameter of a route."""

    name: str
    kind: str
    help: str


@dataclass(frozen=True)
class FieldRow:
    """A field of an answer. ``name``: with the fields it is in, like `gpus[].uuid`."""

    name: str
    kind: str
    help: str


@dataclass(frozen=True)
class RouteRow:
    """A route."""

    id: str
    path: str
    summary: str
    parameters: list[ParameterRow]
    fields: list[FieldRow]


def routes(document: Mapping[str, Any]) -> list[RouteRow]:
    """Give every route in the order of its address."""
    found = []
    for path, methods in sorted(document["paths"].items()):
        operation = methods["get"]
        answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
        found.append(
            RouteRow(
                operation["operationId"],
                path,
                operation["summary"],
                [_parameter(one) for one in operation.get("parameters", [])],
                list(_fields(answer, document["components"]["schemas"], "", 0)),
            )
        )
    return found


def _parameter(one: Mapping[str, Any]) -> ParameterRow:
    place = "" if one["in"] == "query" else one["in"]
    choices = ", ".join(one["schema"].get("enum", ()))
    kind = choices or one["schema"].get("format") or one["schema"]["type"]
    return ParameterRow(one["name"], kind, one.get("description", place))


def _fields(shape: Mapping[str, Any], known: Mapping[str, Any], prefix: str, level: int) -> Iterator[FieldRow]:
    """Walk the fields of a shape, those of what is inside of them behind each."""
    for name, field in _resolved(shape, known).get("properties", {}).items():
        inner = _resolved(field, known)
        label = f"{prefix}{name}"
        if inner.get("type") == "array":
            inner, label = _resolved(inner["items"], known), f"{label}[]"
        yield FieldRow(label, _kind(inner), field.get("description") or inner.get("description", ""))
        if level < MOST_LEVELS:
            yield from _fields(inner, known, f"{label}.", level + 1)


def _resolved(shape: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow a reference, also one that stands alone among alternatives."""
    for one in (shape, *shape.get("allOf", ()), *shape.get("oneOf", ())):
        if "$ref" in one:
            found: Mapping[str, Any] = known[one["$ref"].rsplit("/", 1)[1]]
            return found
    return shape


def _kind(shape: Mapping[str, Any]) -> str:
    kinds = shape.get("type", "object")
    text = " or ".join(kinds) if isinstance(kinds, list) else str(kinds)
    return f"{text} ({shape['format']})" if shape.get("format") else text
