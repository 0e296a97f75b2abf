"""Errors that a person may read: each has a code, a sentence, a remedy and, where there is one, a place.

FleetledgerError
+-- BadInput          exit 2   what was given can't be used as it is
|   +-- BadInputs     exit 2   several of them, all reported at once
+-- OutsideFailed     exit 3   a source, provider or channel; ``permanent`` says whether a retry can help
+-- Refused           exit 4   a rule of ours says no; nothing was changed
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Where:
    """A place in a file: ``line`` counts from 1, ``key`` is a dotted path such as ``teams[2].name``."""

    file: str | None = None
    line: int | None = None
    key: str | None = None

    def as_json(self) -> dict[str, object]:
        """Give the ``where`` object of doors.md."""
        return {"file": self.file, "line": self.line, "key": self.key}


class FleetledgerError(Exception):
    """The base: ``code`` is stable and documented in ``docs/reference/codes.md``."""

    exit_code = 1

    def __init__(self, code: str, message: str, *, hint: str = "", where: Where | None = None) -> None:
        super().__init__(message)
        self.code, self.message, self.hint, self.where = code, message, hint, where or Where()

    def as_json(self) -> dict[str, object]:
        """Give the error object of doors.md."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "where": self.where.as_json()}


class BadInput(FleetledgerError):
    """What was given can't be used; nothing was changed."""

    exit_code = 2


class BadInputs(BadInput):
    """Several errors of one input, in the order of their places; the first one is the headline."""

    def __init__(self, errors: Sequence[BadInput]) -> None:
        first = errors[0]
        super().__init__(first.code, first.message, hint=first.hint, where=first.where)
        self.errors = tuple(errors)


class OutsideFailed(FleetledgerError):
    """Something outside did not do its part. ``permanent``: trying again without a change can't help."""

    exit_code = 3

    def __init__(
        self, code: str, message: str, *, hint: str = "", where: Where | None = None, permanent: bool = False
    ) -> None:
        super().__init__(code, message, hint=hint, where=where)
        self.permanent = permanent


class Refused(FleetledgerError):
    """A rule says no (``clock_backwards`` and the like); nothing was changed."""

    exit_code = 4
