"""The shape of the tree: small files, no empty rooms, no drawer for everything, nothing of one machine."""

from __future__ import annotations

import re
import statistics
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, files, product_modules, show

LONGEST_FILE_LINES = 500
MEDIAN_FILE_LINES = 100
REGISTRY = re.compile(r"pypi\.org|pythonhosted\.|registry\.npm|--(extra-)?index-url")
MACHINE_PATH = re.compile(r"(?<![\w.$}])/(root|home|work|tmp/fl|opt/fl)\b/?[\w-]")
DRAWERS = {"utils", "util", "helpers", "helper", "misc", "manager", "shared", "stuff"}


def line_count(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def test_no_file_is_long() -> None:
    long = {
        show(path): line_count(path) for path in files(".py", ".html", ".js", ".css") if "migrations" not in path.parts
    }
    assert {name: lines for name, lines in long.items() if lines > LONGEST_FILE_LINES} == {}


def test_the_median_module_is_short() -> None:
    median = statistics.median(line_count(path) for path in product_modules())
    print(f"median of {len(product_modules())} modules: {median} lines")  # noqa: T201 - shown by `pytest -s`
    assert median < MEDIAN_FILE_LINES


def test_no_room_is_empty() -> None:
    rooms = {path.parent for path in files(".py") if path.name == "__init__.py"}
    contents = [path for path in files() if path.name != "__init__.py"]
    empty = [show(room) for room in rooms if not any(path.is_relative_to(room) for path in contents)]
    assert sorted(empty) == []


def test_no_module_is_a_drawer() -> None:
    names = [path for path in files(".py") if path.stem in DRAWERS or path.parent.name in DRAWERS]
    assert [show(path) for path in names] == []


@pytest.mark.parametrize(
    ("pattern", "what"),
    [(REGISTRY, "a package registry"), (MACHINE_PATH, "a path of one machine")],
    ids=["registry", "path"],
)
def test_nothing_names(pattern: re.Pattern[str], what: str) -> None:
    found = []
    for path in set(files()) - {Path(__file__)}:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [show(path, text.count("\n", 0, hit.start()) + 1) for hit in pattern.finditer(text)]
    assert found == [], f"{what} stands in the tree"


@pytest.mark.parametrize("text", ["see https://" + "pypi." + "org/project/x", "--index-url http://x"])
def test_registry_pattern_finds(text: str) -> None:
    assert REGISTRY.search(text)


@pytest.mark.parametrize("text", ["cd /root/x", "'/home/ann/x'", "/opt/" + "fl-venv"])
def test_path_pattern_finds(text: str) -> None:
    assert MACHINE_PATH.search(text)


@pytest.mark.parametrize("text", ["http://example.com/home/page", "var/" + "work/x", "./root/x"])
def test_path_pattern_spares(text: str) -> None:
    assert not MACHINE_PATH.search(text)


def test_programs_are_executable_and_start_with_their_interpreter() -> None:
    for path in files():
        is_program = path.read_bytes()[:2] == b"#!"
        assert is_program == bool(path.stat().st_mode & 0o111), show(path)


def test_repository_has_what_a_stranger_looks_for() -> None:
    names = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "docs/architecture.md")
    assert [name for name in names if not (ROOT / name).is_file()] == []
    assert "Apache License" in (ROOT / "LICENSE").read_text(encoding="utf-8")[:200]
