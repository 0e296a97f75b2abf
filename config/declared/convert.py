"""Nodes to values by a schema; every error is collected with its line and key, so that all are told at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from common.errors import BadInput, Where
from config.declared.nearest import did_you_mean
from config.declared.nodes import Items, Node, Path, Table, Text, dotted, line_of
from config.declared.schema import Anything, ListOf, MapOf, Record, Type, Variants
from config.declared.values import Reading, Scalar

MISSING = object()
MAX_ERRORS = 100
MAX_TOLD = 300  # characters of a message or key: a wrong value may be long


class EnoughErrors(Exception):
    """A hundred errors are there: more help nobody, and looking for them takes time."""


@dataclass
class Converter:
    """Types one file; ``errors`` grows, and what is wrong is left out of the values."""

    file: str
    root: Table
    reading: Reading
    errors: list[BadInput] = field(default_factory=list)

    def convert(self, node: Node, wanted: Type, path: Path) -> Any:
        """Give the JSON value of ``node``, or MISSING when it is null or wrong."""
        if isinstance(wanted, Anything):
            return untyped(node)
        if isinstance(node, Text) and node.is_null:
            return MISSING
        if isinstance(wanted, Scalar):
            return self._scalar(node, wanted, path)
        if isinstance(wanted, ListOf):
            return self._list(node, wanted, path)
        if not isinstance(node, Table):
            return self.wrong(path, "not_a_mapping", "Keys with values belong here.", "Write {key: value}.")
        if isinstance(wanted, MapOf):
            return self._map(node, wanted, path)
        if isinstance(wanted, Variants):
            return self._variant(node, wanted, path)
        return self._record(node, wanted, path)

    def wrong(self, path: Path, code: str, message: str, hint: str = "", *, line: int | None = None) -> Any:
        """Note an error at ``path``; gives MISSING."""
        self.errors.append(located(path, code, message, hint, file=self.file, root=self.root, line=line))
        if len(self.errors) >= MAX_ERRORS:
            raise EnoughErrors
        return MISSING

    def _scalar(self, node: Node, wanted: Scalar, path: Path) -> Any:
        if not isinstance(node, Text):
            return self.wrong(
                path, "not_a_value", f"One value belongs here: {wanted.name}.", "Remove the brackets or the list."
            )
        try:
            return wanted.read(node.value.strip(), self.reading)
        except BadInput as error:
            return self.wrong(path, error.code, error.message, error.hint)

    def _list(self, node: Node, wanted: ListOf, path: Path) -> Any:
        if not isinstance(node, Items):
            if not wanted.or_one:
                return self.wrong(path, "not_a_list", "A list belongs here.", "Write [a, b], or - before each.")
            node = Items(node.line, [node])
        found = [self.convert(item, wanted.item, (*path, number)) for number, item in enumerate(node.items)]
        for number, item in enumerate(node.items):
            if isinstance(item, Text) and item.is_null and not isinstance(wanted.item, Anything):
                self.wrong(
                    (*path, number),
                    "blank",
                    "There is nothing in this place of the list.",
                    "Remove it, or write a value.",
                )
        if len(node.items) < wanted.least:
            return self.wrong(
                path, "too_few", f"At least {wanted.least} must stand here.", "Add one, or leave the key out."
            )
        return [None if value is MISSING else value for value in found]

    def _map(self, node: Table, wanted: MapOf, path: Path) -> Any:
        found = {}
        for name, child in node.values.items():
            if not name.strip():
                self.wrong((*path, name), "bad_key", "A key is blank.", "Write a name.")
                continue
            value = self.convert(child, wanted.value, (*path, name))
            if value is MISSING:
                continue
            try:
                if wanted.check:
                    wanted.check(name, value)
            except BadInput as error:
                self.wrong((*path, name), error.code, error.message, error.hint)
                continue
            found[name] = value
        return found

    def _variant(self, node: Table, wanted: Variants, path: Path) -> Any:
        chosen = node.values.get(wanted.by)
        if chosen is None or not isinstance(chosen, Text) or chosen.is_null:
            kinds = ", ".join(wanted.kinds)
            return self.wrong(
                path, "missing_key", f"The key {wanted.by} is missing.", f"Write {wanted.by}: one of {kinds}."
            )
        if chosen.value not in wanted.kinds:
            message = f"{chosen.value!r} is not one of {', '.join(wanted.kinds)}."
            hint = did_you_mean(chosen.value, wanted.kinds) or "Write one of them."
            return self.wrong((*path, wanted.by), "bad_choice", message, hint)
        return self._record(node, wanted.record(chosen.value), path)

    def _record(self, node: Table, wanted: Record, path: Path) -> Any:
        found: dict[str, Any] = {}
        for name, child in node.values.items():
            key = wanted.keys.get(name)
            if key is None:
                hint = did_you_mean(name, wanted.keys) or f"Known here: {', '.join(sorted(wanted.keys))}."
                self.wrong((*path, name), "unknown_key", f"{name!r} is no key of {dotted(path) or 'the file'}.", hint)
                continue
            value = self.convert(child, key.type, (*path, name))
            if value is not MISSING:
                found[name] = value
        self._check_presence(node, wanted, path)
        for name, key in wanted.keys.items():
            if name not in found and key.default is not None:
                found[name] = key.default
        return found

    def _check_presence(self, node: Table, wanted: Record, path: Path) -> None:
        """Tell required keys that are missing, and too many or none of those that exclude each other."""
        there = {name for name, child in node.values.items() if not (isinstance(child, Text) and child.is_null)}
        for name, key in wanted.keys.items():
            if key.required and name not in there:
                self.wrong(
                    (*path, name), "missing_key", f"The key {name} is missing.", f"Add {name}: here.", line=node.line
                )
        if wanted.one_of and len(there & set(wanted.one_of)) != 1:
            words = " or ".join(wanted.one_of)
            self.wrong(path, "one_of", f"Exactly one of {words} must stand here.", "Keep one of them.")


def located(
    path: Path, code: str, message: str, hint: str, *, file: str, root: Table, line: int | None = None
) -> BadInput:
    """Give an error with its place, cut to what a person reads."""
    where = Where(file, line or line_of(root, path), dotted(path)[:MAX_TOLD] or None)
    return BadInput(code, message if len(message) <= MAX_TOLD else message[:MAX_TOLD] + " ...", hint=hint, where=where)


def untyped(node: Node) -> Any:
    """Give a node as JSON: text, lists and mappings, null for nothing."""
    if isinstance(node, Text):
        return None if node.is_null else node.value
    if isinstance(node, Items):
        return [untyped(item) for item in node.items]
    return {name: untyped(child) for name, child in node.values.items()}
