"""Fields and shapes that several routes share; they only describe answers, which are written as plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rest_framework import serializers


def text(help_text: str = "", *, null: bool = False) -> serializers.CharField:
    """Give a text."""
    return serializers.CharField(help_text=help_text, allow_null=null)


def whole(help_text: str = "", *, null: bool = False) -> serializers.IntegerField:
    """Give a whole number."""
    return serializers.IntegerField(help_text=help_text, allow_null=null)


def moment(help_text: str = "", *, null: bool = False) -> serializers.DateTimeField:
    """Give a time, `YYYY-MM-DDTHH:MM:SSZ`."""
    return serializers.DateTimeField(help_text=help_text, allow_null=null)


def amount(help_text: str = "", *, null: bool = False) -> serializers.DecimalField:
    """Give an exact number, written as a text in plain notation."""
    return serializers.DecimalField(max_digits=38, decimal_places=18, help_text=help_text, allow_null=null)


def number(help_text: str = "", *, null: bool = True) -> serializers.FloatField:
    """Give a measured number: percents from 0 to 100, minutes; null: unknown."""
    return serializers.FloatField(help_text=help_text, allow_null=null)


def flag(help_text: str = "", *, null: bool = False) -> serializers.BooleanField:
    """Give a yes or no; null: unknown."""
    return serializers.BooleanField(help_text=help_text, allow_null=null)


def mapping(help_text: str = "", *, null: bool = False, of: serializers.Field | None = None) -> Any:
    """Give an object with keys of its own."""
    more = {"child": of} if of else {}
    return serializers.DictField(help_text=help_text, allow_null=null, **more)


def amounts(name: str, keys: Sequence[str], *, null: bool) -> type[serializers.Serializer[Any]]:
    """Make a shape with one exact number for each key."""
    fields = {key: amount(null=null) for key in keys}
    return type(name, (serializers.Serializer,), {"__doc__": "An amount for each.", **fields})


def several(of: serializers.Field, help_text: str = "") -> serializers.ListField:
    """Give a list of plain values."""
    return serializers.ListField(child=of, help_text=help_text)


def many(shape: type[serializers.Serializer[Any]], help_text: str) -> serializers.Serializer[Any]:
    """Give a list of documents."""
    return shape(many=True, help_text=help_text)


def one_of(shape: type[serializers.Serializer[Any]], help_text: str, *, null: bool = False) -> Any:
    """Give a document within another."""
    return shape(help_text=help_text, allow_null=null)


def link(help_text: str = "") -> serializers.URLField:
    """Give an address, or null."""
    return serializers.URLField(help_text=help_text, allow_null=True)


class SubjectShape(serializers.Serializer[Any]):
    """What something is about."""

    kind = text()
    id = text()
    account = text(null=True)


class WhereShape(serializers.Serializer[Any]):
    """The place of an error; ``key``: the parameter."""

    file = text(null=True)
    line = whole(null=True)
    key = text(null=True)


class ErrorShape(serializers.Serializer[Any]):
    """An error: a stable code, a sentence, a remedy and a place."""

    code = text()
    message = text()
    hint = text()
    where = WhereShape()


class RefusalShape(serializers.Serializer[Any]):
    """The one shape of every refusal."""

    error = ErrorShape()
