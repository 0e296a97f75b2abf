"""XLSX in constant memory: rows go to disk as they come, the finished file is sent from there."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import xlsxwriter

SHEET_ROWS = 1_048_575  # what a sheet holds below its head
LONGEST_TEXT = 32_767
_CHUNK = 65_536
_OPTIONS = {
    "constant_memory": True, "strings_to_numbers": False, "strings_to_formulas": False, "strings_to_urls": False,
    "nan_inf_to_errors": False, "default_date_format": "yyyy-mm-dd hh:mm:ss",
}  # fmt: skip


def workbook_chunks(head: Sequence[str], rows: Iterable[Sequence[Any]], name: str) -> Iterator[bytes]:
    """Yield a workbook in pieces; past the end of a sheet the rows go on in the next one, under the same head.

    Values: str, int, float, Decimal, bool, datetime without a zone, None (an empty cell).
    """
    with tempfile.TemporaryDirectory(prefix="fleetledger-") as folder:
        path = Path(folder) / "table.xlsx"
        _write(path, Path(folder), head, rows, name)
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                yield chunk


def _write(path: Path, folder: Path, head: Sequence[str], rows: Iterable[Sequence[Any]], name: str) -> None:
    with xlsxwriter.Workbook(str(path), _OPTIONS | {"tmpdir": str(folder)}) as book:
        bold = book.add_format({"bold": True})
        sheet, at, sheets = None, 0, 0
        for row in rows:
            if sheet is None or at > SHEET_ROWS:
                sheets += 1
                sheet, at = _sheet(book, f"{name[:24]} {sheets}" if sheets > 1 else name[:31], head, bold), 1
            for column, value in enumerate(row):
                _cell(sheet, at, column, value)
            at += 1
        if sheet is None:
            _sheet(book, name[:31], head, bold)


def _sheet(book: xlsxwriter.Workbook, name: str, head: Sequence[str], bold: Any) -> Any:
    sheet = book.add_worksheet(name)
    for column, label in enumerate(head):
        sheet.set_column(column, column, min(48, max(12, len(label) + 2)))
        sheet.write_string(0, column, label[:LONGEST_TEXT], bold)
    sheet.freeze_panes(1, 0)
    return sheet


def _cell(sheet: Any, row: int, column: int, value: Any) -> None:
    match value:
        case None:
            return
        case bool():
            sheet.write_boolean(row, column, value)
        case int() | float() | Decimal():
            sheet.write_number(row, column, float(value))
        case datetime():
            sheet.write_datetime(row, column, value)
        case _:
            sheet.write_string(row, column, str(value)[:LONGEST_TEXT])
