"""Applying files in tests: write one, apply it, and see that a refusal leaves every table as it was."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from django.apps import apps
from django.db import connection

from common.errors import BadInputs, FleetledgerError
from config.declared.apply import apply_file

NOW = datetime(2025, 6, 10, 12, tzinfo=UTC)
EXAMPLE = Path(__file__).parents[2] / "docs" / "reference" / "fleet-example.yaml"


def utc(text: str) -> datetime:
    """Read `2025-06-03T10:00` as UTC."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def apply_text(tmp_path: Path, text: str, *, now: datetime = NOW, **options: Any) -> dict[str, Any]:
    """Apply YAML text; give the document of the door."""
    path = tmp_path / "fleet.yaml"
    path.write_text(dedent(text), encoding="utf-8")
    return apply_file(path, now=now, **options).as_json()


def names(result: dict[str, Any], verb: str) -> list[str]:
    """Give ``kind name`` of the things of one verb, with the fields where it changed."""
    return [
        f"{one['kind']} {one['name']}" + (f": {', '.join(one['fields'])}" if one.get("fields") else "")
        for one in result[verb]
    ]


def refusal(tmp_path: Path, text: str, **options: Any) -> list[tuple[str, int | None, str | None]]:
    """Apply a text that is refused; give (code, line, key) of all its errors. Every table must stay as it was."""
    with nothing_changes(), pytest.raises(FleetledgerError) as raised:
        apply_text(tmp_path, text, **options)
    errors = raised.value.errors if isinstance(raised.value, BadInputs) else (raised.value,)
    assert all(error.message and error.hint for error in errors)
    return [(error.code, error.where.line, error.where.key) for error in errors]


def tables() -> dict[str, str]:
    """Give a digest of the rows of every table."""
    found = {}
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            table = model._meta.db_table
            cursor.execute(
                f"SELECT md5(coalesce(string_agg(row::text, chr(10) ORDER BY row::text), '')) FROM \"{table}\" AS row"
            )
            found[table] = cursor.fetchone()[0]
    return found


@contextmanager
def nothing_changes() -> Iterator[None]:
    """Fail if any row of any table is not the same afterwards."""
    before = tables()
    yield
    after = tables()
    assert {name for name in after if before[name] != after[name]} == set()
