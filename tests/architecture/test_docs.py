"""The docs are true: what the source has stands on a page, and what a page names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture import source_facts
from tests.architecture.tree import ROOT, files, product_modules, show

PAGES = ("settings.md", "commands.md", "codes.md", "metrics.md", "signals.md")
TARGET = re.compile(r"^([a-z-]+):(?!=)", re.MULTILINE)


def test_every_setting_is_documented() -> None:
    names = {name.removesuffix("_FILE") for name in source_facts.settings_read()}
    pages = {name.removesuffix("_FILE") for name in source_facts.documented("settings.md")}
    assert "DATABASE_URL" in names
    assert names - pages == set()


def test_every_documented_setting_exists() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in files(".py") if path.parent.name == "config")
    rows = re.findall(
        r"^\| `([A-Z_]+)`", (ROOT / "docs/reference/settings.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert rows
    assert [name for name in rows if name.removesuffix("_FILE") not in text] == []


def test_every_problem_of_the_environment_is_documented() -> None:
    source = (ROOT / "config/environment.py").read_text(encoding="utf-8")
    ids = set(re.findall(r"fleetledger\.E\d+", source))
    assert ids
    assert ids - source_facts.documented("codes.md") == set()


def test_every_command_is_documented() -> None:
    assert source_facts.commands() - source_facts.documented("commands.md") == set()


def test_every_documented_command_exists() -> None:
    headings = re.findall(
        r"^## `([a-z_]+)", (ROOT / "docs/reference/commands.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    assert headings
    assert set(headings) - source_facts.commands() == set()


def test_every_state_reason_and_finding_is_documented() -> None:
    values = source_facts.enum_values(ast.parse((ROOT / "fleet/domain/states.py").read_text(encoding="utf-8")))
    assert {"State", "Reason", "FindingKind"} <= set(values)
    assert {name: missing for name, of in values.items() if (missing := of - source_facts.documented("codes.md"))} == {}


def test_every_error_code_is_documented() -> None:
    codes = source_facts.error_codes()
    assert "bad_secret" in codes
    assert sorted(codes - source_facts.documented("codes.md")) == []


def test_every_metric_is_documented() -> None:
    assert source_facts.metric_names() - source_facts.documented("metrics.md") == set()


def test_every_exporter_metric_is_documented() -> None:
    from fleet.domain.exporters import METRICS

    # One exporter's names exist in lower case too (Azure): the page says so once.
    page = {word.lower() for word in source_facts.documented("signals.md")}
    assert sorted({metric.name for metric in METRICS if metric.name.lower() not in page}) == []


def fenced_commands(path: Path) -> list[str]:
    """Give the lines of fenced blocks on a page, without comments."""
    blocks = re.findall(r"^```(?:sh|console)?\n(.*?)^```", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    lines = [line.partition("#")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in lines if line]


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_make_command_of_a_page_is_a_target(page: str) -> None:
    targets = set(TARGET.findall((ROOT / "Makefile").read_text(encoding="utf-8")))
    text = (ROOT / page).read_text(encoding="utf-8")
    named = set(
        re.findall(r"\bmake ([a-z-]+)", "\n".join([*fenced_commands(ROOT / page), *re.findall(r"`([^`]+)`", text)]))
    )
    assert named
    assert named - targets == set()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_management_command_of_a_page_exists(page: str) -> None:
    named = re.findall(r"manage\.py ([a-z_]+)", (ROOT / page).read_text(encoding="utf-8"))
    assert set(named) - source_facts.commands() == set()


def test_every_link_between_pages_leads_somewhere() -> None:
    broken = []
    for path in files(".md"):
        targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text(encoding="utf-8"))
        inside = [target for target in targets if "://" not in target]
        broken += [f"{show(path)}: {target}" for target in inside if not (path.parent / target).exists()]
    assert broken == []


def test_decisions_are_numbered_once_and_listed() -> None:
    records = sorted((ROOT / "docs/adr").glob("[0-9]*.md"))
    numbers = [int(path.name[:4]) for path in records]
    assert len(set(numbers)) == len(numbers)
    index = (ROOT / "docs/adr/README.md").read_text(encoding="utf-8")
    for number, path in zip(numbers, records, strict=True):
        title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix(f"# {number}. ")
        assert f"| [{number}]({path.name}) | {title} |" in index


def test_every_code_in_the_first_column_is_in_the_source() -> None:
    page = (ROOT / "docs/reference/codes.md").read_text(encoding="utf-8")
    codes = {
        code for row in re.findall(r"^\| (`[^|]+`) \|", page, re.MULTILINE) for code in re.findall(r"`([^`]+)`", row)
    }
    source = "".join(path.read_text(encoding="utf-8") for path in product_modules())
    slack_says_itself = {"no_service", "channel_not_found", "channel_is_archived", "invalid_token"}
    assert sorted(code for code in codes - slack_says_itself if not re.search(rf"\b{re.escape(code)}\b", source)) == []
