"""What a command answers to a wrong command line: with --json one document on stdout, as for every bad input."""

from __future__ import annotations

import json
import sys

import pytest
from django.core.management import ManagementUtility


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["apply"], "file"),
        (["spend", "--month", "2025-06", "--nope"], "--nope"),
        (["replay", "--since", "2025-06-03T10:00:00Z"], "--until"),
        (["replay", "--since", "a", "--until", "b", "--effects", "loud"], "loud"),
    ],
)
def test_a_wrong_command_line_is_an_error_document(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    argv = ["manage.py", *words, "--json"]
    monkeypatch.setattr(sys, "argv", argv)
    with pytest.raises(SystemExit) as left:
        ManagementUtility(argv).execute()
    out = capsys.readouterr().out
    error = json.loads(out)["error"]
    assert (left.value.code, error["code"], error["hint"]) == (
        2, "bad_usage", f"manage.py {words[0]} --help shows what there is.",
    )  # fmt: skip
    assert said in error["message"].lower()
