"""The base of our management commands: one JSON document on stdout, everything else on stderr, fixed exit codes."""

from __future__ import annotations

import json
import sys
from datetime import datetime
from functools import partial
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandParser

from common.errors import BadInput, BadInputs, FleetledgerError
from common.periods import parse_moment


class DoorCommand(BaseCommand):
    """A fixed door (doors.md). Subclasses implement ``add_options`` and ``answer``; ``answer`` returns JSON values."""

    takes_time = False  # True adds --at
    requires_system_checks: list[str] = []

    def add_options(self, parser: CommandParser) -> None:
        """Add the command's own options."""

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Do the work; give the JSON document. ``at`` is None when --at was not given."""
        raise NotImplementedError

    def text(self, answer: Any) -> str:
        """Show the answer to a person (without --json)."""
        return json.dumps(answer, indent=2, ensure_ascii=False)

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Give the parser; from a command line with --json a word that it does not know is an error document too."""
        parser = super().create_parser(prog_name, subcommand, **kwargs)
        if getattr(self, "_called_from_command_line", False) and "--json" in sys.argv:
            parser.error = partial(self._refuse, subcommand)  # type: ignore[method-assign]
        return parser

    def _refuse(self, subcommand: str, message: str) -> NoReturn:
        hint = f"manage.py {subcommand} --help shows what there is."
        self.fail(BadInput("bad_usage", f"{message[:1].upper()}{message[1:]}.", hint=hint), as_json=True)

    def add_arguments(self, parser: CommandParser) -> None:
        """Add --json and --at, then the command's own."""
        parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
        if self.takes_time:
            parser.add_argument("--at", help="the time to answer for, like 2025-06-03T11:00:00Z")
        self.add_options(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        """Run and answer; an error becomes the error document and its exit code."""
        try:
            at = parse_moment(options["at"], key="--at") if options.get("at") else None
            answer = self.answer(at=at, options=options)
        except FleetledgerError as error:
            self.fail(error, as_json=options["json"])
        else:
            self.stdout.write(json.dumps(answer, ensure_ascii=False) if options["json"] else self.text(answer))

    def fail(self, error: FleetledgerError, *, as_json: bool) -> NoReturn:
        """Print the error and leave with its exit code."""
        errors = error.errors if isinstance(error, BadInputs) else (error,)
        if as_json:
            document = {"error": error.as_json(), "errors": [one.as_json() for one in errors]}
            self.stdout.write(json.dumps(document, ensure_ascii=False))
        for one in errors:
            place = ":".join(str(part) for part in (one.where.file, one.where.line, one.where.key) if part)
            self.stderr.write(f"{place + ': ' if place else ''}{one.message} {one.hint} [{one.code}]".strip())
        sys.exit(error.exit_code)
