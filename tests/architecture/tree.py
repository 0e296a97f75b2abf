"""What belongs to the project: the files that git knows or would add, without ignored ones."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ("common", "people", "alerts", "fleet", "billing", "demo", "config")


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """List the project's files with one of ``suffixes`` (all without any), as absolute paths."""
    try:
        listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
        names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
        found = [ROOT / name for name in names if name]
    except (OSError, subprocess.CalledProcessError):  # a copy without its repository
        found = [path for path in ROOT.rglob("*") if not _is_ignored(path)]
    return tuple(sorted(path for path in found if path.is_file() and (not suffixes or path.suffix in suffixes)))


def _is_ignored(path: Path) -> bool:
    parts = path.relative_to(ROOT).parts
    return any(part in {".venv", "var", "__pycache__", ".git"} or part.endswith("_cache") for part in parts)


def product_modules() -> tuple[Path, ...]:
    """List the product's Python files: no tests, benchmarks or migrations."""
    return tuple(
        path
        for path in files(".py")
        if path.relative_to(ROOT).parts[0] in APPS and "migrations" not in path.parts and path.name != "__init__.py"
    )


def show(path: Path, line: int = 0) -> str:
    """Give ``path`` as a reader of a failure wants it."""
    name = str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)
    return f"{name}:{line}" if line else name
