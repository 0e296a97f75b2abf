"""Schemas as data: a key has a type, may be required, may have a default, and says what it is about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from config.declared.values import Scalar


@dataclass(frozen=True)
class Key:
    """One key of a record. ``default`` is filled in when the key is absent or null; None: it stays away."""

    type: Type
    about: str = ""
    required: bool = False
    default: Any = None


@dataclass(frozen=True)
class Record:
    """A mapping with known keys."""

    keys: Mapping[str, Key]
    one_of: tuple[str, ...] = ()  # exactly one of these must be there


@dataclass(frozen=True)
class Variants:
    """A mapping whose further keys depend on one of them, such as ``kind``."""

    by: str
    about: str
    common: Mapping[str, Key]
    kinds: Mapping[str, Mapping[str, Key]]

    def record(self, kind: str) -> Record:
        """Give the record of one kind."""
        return Record({self.by: Key(CHOSEN, self.about, required=True), **self.common, **self.kinds[kind]})


@dataclass(frozen=True)
class ListOf:
    """A list of one type; with ``or_one`` a single thing may stand without brackets."""

    item: Type
    least: int = 0
    or_one: bool = False


@dataclass(frozen=True)
class MapOf:
    """A mapping with free keys; ``check`` may refuse a pair (BadInput without a place)."""

    value: Type
    about: str = "name"
    check: Callable[[str, Any], None] | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Anything:
    """Whatever is written; kept as it is."""


Type: TypeAlias = Scalar | Record | Variants | ListOf | MapOf | Anything
CHOSEN = Scalar("kind", lambda value, _: value)  # the word that chose a variant; checked before
