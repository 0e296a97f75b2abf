"""Set-based writing: COPY into a staging table and one upsert; advisory locks that only save work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection, transaction


def copy_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """COPY ``rows`` into ``table`` (text form); return how many."""
    count = 0
    names = ", ".join(f'"{column}"' for column in columns)
    with connection.cursor() as cursor, cursor.copy(f'COPY "{table}" ({names}) FROM STDIN') as copy:
        for row in rows:
            copy.write_row(row)
            count += 1
    return count


def upsert_rows(
    table: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    key: Sequence[str],
    update: Sequence[str] | None = None,
) -> int:
    """COPY ``rows`` into a staging table, then insert or update by ``key``; equal rows are not rewritten.

    ``update`` names the columns that a conflict overwrites (default: all but the key). Returns rows written.
    """
    changing = [column for column in columns if column not in key] if update is None else list(update)
    names = ", ".join(f'"{column}"' for column in columns)
    targets = ", ".join(f'"{column}"' for column in key)
    if changing:
        values = ", ".join(f'"{column}" = excluded."{column}"' for column in changing)
        old = ", ".join(f'target."{column}"' for column in changing)
        new = ", ".join(f'excluded."{column}"' for column in changing)
        conflict = f"DO UPDATE SET {values} WHERE ({old}) IS DISTINCT FROM ({new})"
    else:
        conflict = "DO NOTHING"
    with transaction.atomic(), connection.cursor() as cursor:
        staging = f"staging_{table}"
        cursor.execute(f'CREATE TEMP TABLE "{staging}" ON COMMIT DROP AS SELECT {names} FROM "{table}" WITH NO DATA')
        if not copy_rows(staging, columns, rows):
            cursor.execute(f'DROP TABLE "{staging}"')
            return 0
        cursor.execute(
            f'INSERT INTO "{table}" AS target ({names}) SELECT {names} FROM "{staging}" '
            f"ON CONFLICT ({targets}) {conflict}"
        )
        written = cursor.rowcount
        cursor.execute(f'DROP TABLE "{staging}"')
        return int(written)


def update_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """COPY ``rows`` into a staging table and update ``table`` by `id`, the first of ``columns``; give rows written."""
    names = ", ".join(f'"{column}"' for column in columns)
    values = ", ".join(f'"{column}" = new."{column}"' for column in columns[1:])
    with transaction.atomic(), connection.cursor() as cursor:
        staging = f"staging_{table}"
        cursor.execute(f'CREATE TEMP TABLE "{staging}" ON COMMIT DROP AS SELECT {names} FROM "{table}" WITH NO DATA')
        copy_rows(staging, columns, rows)
        cursor.execute(f'UPDATE "{table}" AS target SET {values} FROM "{staging}" AS new WHERE target.id = new.id')
        written = cursor.rowcount
        cursor.execute(f'DROP TABLE "{staging}"')
        return int(written)


@contextmanager
def advisory_lock(name: str, *, wait: bool = False) -> Iterator[bool]:
    """Hold the session lock ``name``; yields whether it was got. It saves work, it never guards an effect."""
    with connection.cursor() as cursor:
        if wait:
            cursor.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [name])
            held = True
        else:
            cursor.execute("SELECT pg_try_advisory_lock(hashtextextended(%s, 0))", [name])
            row = cursor.fetchone()
            held = bool(row and row[0])
        try:
            yield held
        finally:
            if held:
                cursor.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", [name])


def take_lock(name: str) -> None:
    """Wait for the lock ``name`` and hold it to the end of the transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])


def join_in_bulk() -> None:
    """Join large tables as wholes for the rest of the transaction.

    Row by row is what the planner picks for tables of which it has no statistics yet.
    """
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_nestloop = off")
