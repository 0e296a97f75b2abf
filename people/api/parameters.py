"""What may stand behind the ? of a route: declared once, read strictly, and written into the OpenAPI document."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import orjson
from django.http import QueryDict
from drf_spectacular.utils import OpenApiParameter

from common.errors import BadInput, Where
from common.periods import parse_moment

MOST = 500
USUAL = 100


@dataclass(frozen=True)
class Parameter:
    """A parameter of a query. ``kind``: text, time, flag (true or false), count or cursor."""

    name: str
    help: str
    kind: str = "text"
    choices: tuple[str, ...] = ()

    def read(self, text: str) -> Any:
        """Give its value; raises BadInput with the parameter as its place."""
        if self.kind == "time":
            return parse_moment(text, key=self.name)
        if self.kind == "flag":
            return self._one_of(text, ("true", "false")) == "true"
        if self.kind == "count":
            return self._count(text)
        if self.kind == "cursor":
            return read_cursor(text)
        return self._one_of(text, self.choices) if self.choices else text

    def _one_of(self, text: str, choices: Sequence[str]) -> str:
        if text not in choices:
            raise self._bad("bad_choice", f"There is no {self.name} {text!r}.", f"There are: {', '.join(choices)}.")
        return text

    def _count(self, text: str) -> int:
        if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MOST:
            raise self._bad("bad_limit", f"{self.name}: {text!r} is no number of rows.", f"Write 1 to {MOST}.")
        return int(text)

    def _bad(self, code: str, message: str, hint: str) -> BadInput:
        return BadInput(code, message, hint=hint, where=Where(key=self.name))

    def documented(self) -> OpenApiParameter:
        """Give it as the OpenAPI document has it."""
        schema: dict[str, Any] = {"type": "string"}
        if self.kind == "time":
            schema["format"] = "date-time"
        elif self.kind == "flag":
            schema = {"type": "boolean"}
        elif self.kind == "count":
            schema = {"type": "integer", "minimum": 1, "maximum": MOST, "default": USUAL}
        if self.choices:
            schema["enum"] = list(self.choices)
        return OpenApiParameter(self.name, type=schema, description=self.help)


LIMIT = Parameter("limit", "how many rows an answer has at most", "count")
CURSOR = Parameter("cursor", "where to go on: from `next` of the answer before", "cursor")
TEAM = Parameter("team", "only of this team and its sub-teams; `-` for what is unassigned")
SINCE = Parameter("since", "from this time on", "time")
UNTIL = Parameter("until", "before this time", "time")


def read_parameters(query: QueryDict, declared: Sequence[Parameter]) -> dict[str, Any]:
    """Give the values of what is given. Raises BadInput: unknown_parameter, repeated_parameter, and their own."""
    known = {one.name: one for one in declared}
    for name in query:
        if name not in known:
            near = get_close_matches(name, list(known), n=1)
            hint = f"Did you mean {near[0]}?" if near else f"There are: {', '.join(known) or 'none'}."
            raise BadInput("unknown_parameter", f"There is no parameter {name!r}.", hint=hint, where=Where(key=name))
        if len(query.getlist(name)) > 1:
            raise BadInput("repeated_parameter", f"{name} is given twice.", hint="Give it once.", where=Where(key=name))
        if "\x00" in query[name]:
            raise BadInput("bad_text", f"{name} holds a NUL.", hint="Leave it out.", where=Where(key=name))
    return {name: known[name].read(str(value)) for name, value in query.items() if value}


def write_cursor(key: int) -> str:
    """Write the key of the last row so that nobody is tempted to count with it."""
    return base64.urlsafe_b64encode(orjson.dumps([key])).decode().rstrip("=")


def read_cursor(text: str) -> int:
    """Read what `write_cursor` wrote; raises BadInput (bad_cursor)."""
    try:
        match orjson.loads(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))):
            case [int(key)] if 0 <= key < 2**63:
                return key
    except (ValueError, binascii.Error):
        pass
    raise BadInput(
        "bad_cursor", "This cursor is none of ours.", hint="Take `next` as it is.", where=Where(key="cursor")
    )
