"""Whatever happens to a file: it is applied whole, or refused with a place and without a trace."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from common.errors import BadInput
from config.declared.apply import apply_file
from tests.support.declared import EXAMPLE, NOW, nothing_changes

LINES = EXAMPLE.read_text(encoding="utf-8").splitlines()
WORDS = (
    "",
    "null",
    "0",
    "-1",
    "yes",
    "nlp",
    "lab",
    "[]",
    "{}",
    "2025-06-02",
    "60m",
    "*x",
    "&x 1",
    "'",
    "{a: 1}",
    "\t",
    "é",
    "env:A",
)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """Change the example at one to four places: lines dropped, doubled, moved; words and signs replaced."""
    lines = list(LINES)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        kind = draw(st.sampled_from(["drop", "double", "move", "value", "sign", "indent"]))
        line = lines[at]
        if kind == "drop":
            del lines[at]
        elif kind == "double":
            lines.insert(at, line)
        elif kind == "move":
            lines.insert(draw(st.integers(0, len(lines) - 1)), lines.pop(at))
        elif kind == "value" and ": " in line:
            key, _, _ = line.partition(": ")
            lines[at] = f"{key}: {draw(st.sampled_from(WORDS))}"
        elif kind == "sign" and line:
            place = draw(st.integers(0, len(line) - 1))
            lines[at] = line[:place] + draw(st.sampled_from(list("{}[]:,-#&*!|>'\"%@`?x0 "))) + line[place + 1 :]
        else:
            lines[at] = "  " + line
    return "\n".join(lines) + "\n"


class MutatedFiles(TestCase):
    """Each example runs in a transaction of its own that is taken back."""

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mutated(), st.booleans())
    def test_all_or_nothing(self, text: str, after_another: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "fleet.yaml"
            path.write_text(text, encoding="utf-8")
            if after_another:
                apply_file(EXAMPLE, now=NOW)
            try:
                applied = apply_file(path, now=NOW, dry_run=True)
            except BadInput as refused:
                with nothing_changes(), pytest.raises(BadInput):
                    apply_file(path, now=NOW)
                errors = getattr(refused, "errors", (refused,))
                assert all(error.where.line and error.hint and error.message for error in errors)
                return
            assert apply_file(path, now=NOW).as_json() == applied.as_json()
            again = apply_file(path, now=NOW).as_json()
            assert (again["created"], again["changed"], again["removed"]) == ([], [], [])
