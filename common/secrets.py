"""Secrets are named, never written: ``env:NAME`` or ``file:/path``, looked up only when they are used."""

from __future__ import annotations

import os
import re
from pathlib import Path

from common.errors import BadInput

_FORBIDDEN = re.compile(r"SECRET_KEY|DATABASE_URL|CELERY_BROKER_URL|FLEETLEDGER_.*")


def check_reference(reference: str, *, key: str = "secret") -> str:
    """Give ``reference`` back when its form is allowed; else raise ``bad_secret`` (rule 12)."""
    kind, _, name = reference.partition(":")
    if kind == "env" and re.fullmatch(r"[A-Z_][A-Z0-9_]*", name):
        if _FORBIDDEN.fullmatch(name):
            raise BadInput(
                "forbidden_secret", f"{key}: {name} belongs to the server itself.", hint="Name another variable."
            )
        return reference
    if kind == "file" and name.startswith("/"):
        return reference
    raise BadInput("bad_secret", f"{key}: a secret is named, not written.", hint="Write env:NAME or file:/path.")


def resolve(reference: str, *, key: str = "secret") -> str:
    """Read the secret; its value must never reach a log, an error, a row or a page."""
    kind, _, name = check_reference(reference, key=key).partition(":")
    if kind == "env":
        value = os.environ.get(name)
        if not value:
            raise BadInput(
                "secret_missing", f"{key}: the variable {name} is not set.", hint=f"Set {name} for web and worker."
            )
        return value
    return _read(name, key)


def secret_file(reference: str, *, key: str = "secret") -> str:
    """Give the path of a secret that stays a file, like a certificate. Raises BadInput when it can't be read."""
    kind, _, name = check_reference(reference, key=key).partition(":")
    if kind != "file":
        raise BadInput("bad_secret", f"{key}: this is a file.", hint="Write file:/path.")
    _read(name, key)
    return name


def _read(name: str, key: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not text"
        raise BadInput(
            "secret_missing", f"{key}: {name} can't be read ({reason}).", hint="Check path and mode."
        ) from None
