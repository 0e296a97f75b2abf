"""Print the reference of `fleet.yaml` from its schema (``python -m config.declared.reference``)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from config.declared.schema import Anything, Key, ListOf, MapOf, Record, Type, Variants
from config.declared.sections import FLEET

BEGIN = "<!-- printed from the schema: begin -->"
END = "<!-- printed from the schema: end -->"


def reference() -> str:
    """Give the part of the reference that the schema knows, as Markdown."""
    lines: list[str] = []
    for name, key in FLEET.keys.items():
        lines += ["", f"## `{name}`", "", key.about, *_tables(name, key.type)]
    return "\n".join(lines).strip()


def renewed(page: str) -> str:
    """Give ``page`` with the printed part replaced."""
    return re.sub(f"{BEGIN}.*?{END}", lambda _: f"{BEGIN}\n\n{reference()}\n\n{END}", page, flags=re.DOTALL)


def _tables(path: str, wanted: Type) -> Iterator[str]:
    """Yield a table for each record below ``path``."""
    if isinstance(wanted, ListOf):
        yield from _tables(path, wanted.item)
    elif isinstance(wanted, MapOf):
        yield from _tables(f"{path}.{{{wanted.about}}}", wanted.value)
    elif isinstance(wanted, Record):
        yield from _table(f"Keys of `{path}`" + _one_of(wanted), wanted.keys, path)
    elif isinstance(wanted, Variants):
        kinds = " \\| ".join(wanted.kinds)
        chosen = {wanted.by: Key(ListOf(Anything()), f"{wanted.about} {kinds}", required=True)}
        yield from _table(f"Keys of every `{path}`", {**chosen, **wanted.common}, path)
        for kind, keys in wanted.kinds.items():
            yield from _table(f"More keys of `{path}` with `{wanted.by}: {kind}`", keys, path)


def _table(title: str, keys: Mapping[str, Key], path: str) -> Iterator[str]:
    yield from ("", f"{title}:", "", "| key | type | default | what it is |", "|---|---|---|---|")
    for name, key in keys.items():
        kind = "word" if isinstance(key.type, ListOf) and isinstance(key.type.item, Anything) else _type(key.type)
        yield f"| `{name}` | {kind} | {_default(key)} | {key.about} |"
    for name, key in keys.items():
        if not (isinstance(key.type, ListOf) and isinstance(key.type.item, Anything)):
            yield from _tables(f"{path}.{name}", key.type)


def _type(wanted: Type) -> str:
    """Say what a value is."""
    if isinstance(wanted, ListOf):
        return f"{_type(wanted.item)}, or a list of it" if wanted.or_one else f"list of {_type(wanted.item)}"
    if isinstance(wanted, MapOf):
        return f"{wanted.about}: {_type(wanted.value)}"
    if isinstance(wanted, Anything):
        return "anything"
    return "mapping" if isinstance(wanted, Record | Variants) else wanted.name


def _default(key: Key) -> str:
    if key.required:
        return "required"
    return "" if key.default is None else f"`{json.dumps(key.default, ensure_ascii=False).replace(chr(34), '')}`"


def _one_of(wanted: Record) -> str:
    words = " or ".join(f"`{name}`" for name in wanted.one_of)
    return f" (exactly one of {words})" if words else ""


if __name__ == "__main__":
    page = Path("docs/reference/fleet-yaml.md")
    page.write_text(renewed(page.read_text(encoding="utf-8")), encoding="utf-8")
