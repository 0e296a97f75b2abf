"""The domain is pure: its modules can be imported where Django, Celery and the network libraries do not exist."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, product_modules, show

ABSENT = ("django", "celery", "kombu", "requests", "redis", "psycopg", "environ", "prometheus_api_client", "plotly")
IMPORT_WITHOUT = f"""
import importlib, sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {ABSENT!r}:
            raise ImportError(name + " is not for the domain")
sys.meta_path.insert(0, Absent())
for name in sys.argv[1:]:
    importlib.import_module(name)
"""
CLOCK_CALLS = {"now", "today", "utcnow", "time", "localtime", "monotonic"}


def import_without_django(*modules: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", IMPORT_WITHOUT, *modules]
    return subprocess.run(argv, cwd=cwd, capture_output=True, text=True, check=False, env={"PATH": ""})


def domain_modules() -> list[str]:
    paths = [path.relative_to(ROOT) for path in product_modules() if "domain" in path.parts]
    return [".".join(path.with_suffix("").parts) for path in paths]


def test_domain_imports_without_django() -> None:
    assert domain_modules()
    done = import_without_django(*domain_modules())
    assert done.returncode == 0, done.stderr


def test_importing_django_would_be_seen(tmp_path: Path) -> None:
    (tmp_path / "impure.py").write_text("from django.db import models\n", encoding="utf-8")
    done = import_without_django("impure", cwd=tmp_path)
    assert done.returncode == 1
    assert "django is not for the domain" in done.stderr


def clock_calls(source: str) -> list[int]:
    """Give the lines that read a clock: ``datetime.now()``, ``date.today()``, ``time.time()``, ``timezone.now()``."""
    lines = []
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="datetime" | "date" | "time" | "timezone"), attr=attr)):
                lines += [node.lineno] if attr in CLOCK_CALLS else []
    return lines


@pytest.mark.parametrize("source", ["datetime.now(UTC)", "timezone.now()", "time.time()", "date.today()"])
def test_clock_calls_are_seen(source: str) -> None:
    assert clock_calls(source) == [1]


@pytest.mark.parametrize("source", ["now", "time.perf_counter()", "datetime.fromtimestamp(0, UTC)", "Clock().now()"])
def test_other_calls_are_spared(source: str) -> None:
    assert clock_calls(source) == []


@pytest.mark.parametrize("room", ["domain", "actions", "queries"])
def test_now_is_an_argument(room: str) -> None:
    found = []
    for path in product_modules():
        if room in path.parts or path.stem == room:
            found += [show(path, line) for line in clock_calls(path.read_text(encoding="utf-8"))]
    assert found == []
