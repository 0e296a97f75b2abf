"""COPY of numpy records: whole columns become the binary form at once, no Python per value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

SQL_TYPES = {"i2": "smallint", "i4": "integer", "i8": "bigint", "f8": "double precision", "b1": "boolean"}
MICROSECONDS_TO_2000 = 946_684_800_000_000  # PostgreSQL counts timestamps from 2000-01-01

_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"


def timestamps(epoch_milliseconds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Give what PostgreSQL keeps for these times; stage them as `timestamptz` columns."""
    return epoch_milliseconds * 1000 - MICROSECONDS_TO_2000


def stage(table: str, columns: Mapping[str, NDArray[Any]], *, times: tuple[str, ...] = ()) -> int:
    """Make the temporary table ``table`` (gone with the transaction) of equally long columns without nulls.

    Columns are int16/32/64, float64 or bool; those named in ``times`` are int64 from `timestamps`. Returns the rows.
    """
    kinds = {name: values.dtype.str[1:] for name, values in columns.items()}
    sql = ", ".join(
        f'"{name}" {"timestamptz" if name in times else SQL_TYPES[kind]} NOT NULL' for name, kind in kinds.items()
    )
    count = len(next(iter(columns.values())))
    with connection.cursor() as cursor:
        cursor.execute(f'CREATE TEMP TABLE "{table}" ({sql}) ON COMMIT DROP')
        with cursor.copy(f'COPY "{table}" FROM STDIN (FORMAT BINARY)') as copy:
            copy.write(_HEADER)
            copy.write(_encode(columns, kinds, count))
            copy.write(_TRAILER)
    return count


def drop(table: str) -> None:
    """Drop a staging table before its transaction ends, so that the next chunk can stage again."""
    with connection.cursor() as cursor:
        cursor.execute(f'DROP TABLE "{table}"')


def _encode(columns: Mapping[str, NDArray[Any]], kinds: Mapping[str, str], count: int) -> bytes:
    """Interleave values with their lengths, as the binary form of COPY wants them."""
    layout: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in kinds.items():
        layout += [(f"{name} length", ">i4"), (name, kind if kind == "b1" else f">{kind}")]
    records = np.empty(count, dtype=layout)
    records["fields"] = len(columns)
    for name, values in columns.items():
        records[f"{name} length"] = values.dtype.itemsize
        records[name] = values
    return records.tobytes()


def fetch(query: str, columns: Mapping[str, str]) -> NDArray[Any]:
    """Give the answer of ``query`` as records; ``columns`` name its columns in order with their kinds (`i8`, `b1`).

    The query can't have parameters (COPY takes none): stage what it depends on. Its columns must hold no nulls.
    """
    layout: list[tuple[str, str]] = [("fields", ">i2")]
    for name, kind in columns.items():
        layout += [(f"{name} length", ">i4"), (name, kind if kind == "b1" else f">{kind}")]
    record = np.dtype(layout)
    with connection.cursor() as cursor, cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT BINARY)") as copy:
        answer = b"".join(bytes(part) for part in copy)
    body = memoryview(answer)[len(_HEADER) : -len(_TRAILER)]
    if len(body) % record.itemsize:
        raise ValueError("a column is null or not of its kind")
    raw = np.frombuffer(body, dtype=record)
    found = np.empty(len(raw), dtype=[(name, kind if kind == "b1" else f"={kind}") for name, kind in columns.items()])
    for name in columns:
        found[name] = raw[name]
    return found
