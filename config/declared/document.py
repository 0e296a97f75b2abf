"""A file that was read and typed, with the place of everything in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any
from zoneinfo import ZoneInfo

from common.errors import BadInput, BadInputs, Where
from config.declared.convert import MAX_ERRORS, Converter, EnoughErrors, located
from config.declared.nodes import Path, Table, Text, dotted, line_of
from config.declared.reader import read_file
from config.declared.result import Warned
from config.declared.sections import FLEET
from config.declared.values import TIME_ZONE, Reading


@dataclass
class Document:
    """``values``: the typed file by section; what was wrong is left out and stands in ``errors``."""

    file: str
    root: Table
    values: Mapping[str, Any]
    errors: list[BadInput] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)

    def where(self, path: Path) -> Where:
        """Give the place of a key or list item."""
        return Where(self.file, line_of(self.root, path), dotted(path) or None)

    def wrong(self, path: Path, code: str, message: str, hint: str) -> None:
        """Note an error."""
        self.errors.append(located(path, code, message, hint, file=self.file, root=self.root))
        if len(self.errors) >= MAX_ERRORS:
            raise EnoughErrors

    def warn(self, path: Path, code: str, message: str) -> None:
        """Note a warning."""
        self.warnings.append(Warned(code, self.where(path), message))

    def section(self, name: str) -> Mapping[str, Any]:
        """Give a section that is a mapping."""
        return self.values.get(name) or {}

    def listed(self, name: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
        """Yield path and value of each thing of a section that is a list; those that could not be read are left out."""
        for number, value in enumerate(self.values.get(name) or []):
            if value is not None:
                yield (name, number), value

    def put(self, path: Path, value: Any) -> None:
        """Put another value in the place of one that is there."""
        place: Any = self.values
        for part in path[:-1]:
            place = place[part]
        place[path[-1]] = value

    def refuse_if_wrong(self) -> None:
        """Raise all errors at once, in the order of their places."""
        if self.errors:
            raise in_order(self.errors)


def in_order(errors: list[BadInput]) -> BadInput:
    """Give one error that holds all, by line; only the first hundred, since more help nobody."""
    unique = {(one.where.line, one.where.key, one.code): one for one in errors}
    ordered = sorted(unique.values(), key=lambda one: one.where.line or 0)
    return BadInputs(ordered[:MAX_ERRORS])


def read_document(path: FilePath, zone: ZoneInfo) -> Document:
    """Read and type a file. ``zone``: in which dates begin when the file names none. Raises BadInput."""
    root, doubles = read_file(path)
    converter = Converter(str(path), root, Reading(_zone(root) or zone))
    try:
        values = converter.convert(root, FLEET, ())
    except EnoughErrors:
        values = {}
    return Document(str(path), root, values, [*doubles, *converter.errors])


def _zone(root: Table) -> ZoneInfo | None:
    """Give the zone that the file itself names, if it is one; what is wrong with it is told when it is typed."""
    organization = root.values.get("organization")
    node = organization.values.get("time_zone") if isinstance(organization, Table) else None
    if not isinstance(node, Text):
        return None
    try:
        return ZoneInfo(TIME_ZONE.read(node.value.strip(), Reading(ZoneInfo("UTC"))))
    except BadInput:
        return None
