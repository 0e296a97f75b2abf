"""CSV that a spreadsheet opens without harm: UTF-8 with a mark at the start, no cell that it would run as a formula."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence

BOM = "\ufeff"
_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")  # full-width twins too


def safe_text(text: str) -> str:
    """Put an apostrophe before text that would be read as a formula; a plain number stays one."""
    if not text.lstrip(" ").startswith(_DANGEROUS):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


class _Line:
    """Catches what the csv module writes, so that each row can be sent on its own."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        """Keep the row."""
        self.text = text
        return len(text)


def csv_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a file for spreadsheets line by line, for a streamed answer."""
    yield BOM
    yield from plain_lines([safe_text(cell) for cell in row] for row in rows)


def plain_lines(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield a file for programs line by line: no mark, text as it is."""
    line = _Line()
    writer = csv.writer(line)
    for row in rows:
        writer.writerow(row)
        yield line.text
