"""Drive the fixed doors in-process, as a script outside would: arguments in, one JSON document out."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

from django.core.management import call_command


class DoorFailed(AssertionError):
    """A door left with another exit code than 0; ``code`` and ``document`` tell why."""

    def __init__(self, code: int, document: Any, stderr: str) -> None:
        super().__init__(f"exit {code}: {document} {stderr[-500:]}")
        self.exit_code, self.document = code, document


def door(command: str, *arguments: object) -> Any:
    """Run ``manage.py command arguments --json``; give the document or raise DoorFailed."""
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(command, *[str(argument) for argument in arguments], "--json", stdout=out, stderr=err)
    except SystemExit as left:
        text = out.getvalue()
        raise DoorFailed(int(left.code or 0), json.loads(text) if text else None, err.getvalue()) from None
    return json.loads(out.getvalue())


def apply(folder: Path, document: dict[str, Any], *arguments: object) -> Any:
    """Apply ``document`` (JSON is YAML)."""
    path = folder / "fleet.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return door("apply", path, *arguments)
