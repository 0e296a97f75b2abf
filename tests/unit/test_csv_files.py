"""A file that a spreadsheet opens without running anything."""

from __future__ import annotations

import csv
import io

import pytest

from common.csv_files import csv_lines, safe_text


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\tx", "\r=1", " =1", "=HYPERLINK(1)", "\uff1d1", "-cmd", "+alpha", "-"],
)
def test_what_would_run_becomes_text(text: str) -> None:
    assert safe_text(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-3.50", "+4", "-1e5", "nlp", "", "a=b", "x-y", "0.123456789"])
def test_numbers_and_plain_words_stay(text: str) -> None:
    assert safe_text(text) == text


def test_the_file_starts_with_the_mark_and_reads_back() -> None:
    rows = [["team", "note"], ["a,b", 'say "hi"\nthere'], ["ünï", ""]]
    text = "".join(csv_lines(rows))
    assert text.startswith("\ufeff")
    assert list(csv.reader(io.StringIO(text[1:], newline=""))) == rows
