"""What was read from a YAML file, with the line of everything: text, lists and tables, nothing typed yet."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

Path: TypeAlias = tuple[str | int, ...]


@dataclass(slots=True)
class Text:
    """A scalar as it is written; ``is_null`` for an unquoted null, ~ or nothing."""

    line: int
    value: str
    is_null: bool = False


@dataclass(slots=True)
class Items:
    """A list; ``size`` counts the nodes below it, aliases counted each time."""

    line: int
    items: list[Node] = field(default_factory=list)
    size: int = 1


@dataclass(slots=True)
class Table:
    """A mapping in file order; ``key_lines`` tells where each key stands, ``merged`` which came from `<<`."""

    line: int
    values: dict[str, Node] = field(default_factory=dict)
    key_lines: dict[str, int] = field(default_factory=dict)
    merged: set[str] = field(default_factory=set)
    size: int = 1


Node: TypeAlias = Text | Items | Table


def dotted(path: Path) -> str:
    """Write a path as people read it: ``accounts[0].instances[3].gpu_count``; positions count from 0."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text


def line_of(root: Node, path: Path) -> int:
    """Give the line of a key or list item; of the nearest thing above it that is there, when it is missing."""
    node, line = root, root.line
    for part in path:
        if isinstance(node, Table) and isinstance(part, str) and part in node.values:
            line, node = node.key_lines[part], node.values[part]
        elif isinstance(node, Items) and isinstance(part, int) and part < len(node.items):
            node = node.items[part]
            line = node.line
        else:
            break
    return line
