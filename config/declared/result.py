"""What an apply did, in the shape of the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from common.declared import Change, Verb
from common.errors import Where


@dataclass(frozen=True)
class Warned:
    """Something to know that is no error."""

    code: str
    where: Where
    message: str

    def as_json(self) -> dict[str, Any]:
        """Give the warning of the door."""
        return {"code": self.code, "where": self.where.as_json(), "message": self.message}


@dataclass(frozen=True)
class ApplyResult:
    """All changes in the order of the file's sections, and the warnings in the order of their places."""

    changes: Sequence[Change]
    warnings: Sequence[Warned]

    def of(self, verb: Verb) -> list[Change]:
        """Give the changes of one verb."""
        return [change for change in self.changes if change.verb is verb]

    def as_json(self) -> dict[str, Any]:
        """Give the document of `apply`."""
        return {
            "created": [_named(change) for change in self.of(Verb.CREATED)],
            "changed": [{**_named(change), "fields": list(change.fields)} for change in self.of(Verb.CHANGED)],
            "removed": [_named(change) for change in self.of(Verb.REMOVED)],
            "unchanged": len(self.of(Verb.UNCHANGED)),
            "warnings": [warning.as_json() for warning in self.warnings],
        }


def _named(change: Change) -> dict[str, str]:
    return {"kind": change.kind, "name": change.name}
