"""The reference says what the schema says."""

from __future__ import annotations

import re
from pathlib import Path

from config.declared.reference import renewed

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "reference" / "fleet-yaml.md"


def test_the_page_is_as_printed() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == renewed(page), "run: python -m config.declared.reference"


def test_every_code_is_explained() -> None:
    sources = [*(ROOT / "config" / "declared").rglob("*.py"), ROOT / "common" / "secrets.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    raised = set(
        re.findall(
            r'(?:BadInput|self\.wrong|_error|document\.wrong|document\.warn|Warned)\((?:[^"()]|\([^()]*\))*"([a-z_]+)"',
            text,
        )
    )
    page = PAGE.read_text(encoding="utf-8")
    assert len(raised) > 45
    assert {code for code in raised if f"`{code}`" not in page} <= {"secret_missing", "key"}
