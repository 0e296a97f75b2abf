"""The plotly.js of the Python package as a static file, so that both are of one version and nothing is vendored."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import BaseFinder
from django.core.files.storage import FileSystemStorage

ADDRESS = "plotly/plotly.min.js"


def package_data() -> Path:
    """Find the package's files without importing it."""
    spec = importlib.util.find_spec("plotly")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package plotly is not installed")
    return Path(spec.submodule_search_locations[0]) / "package_data"


class PlotlyFinder(BaseFinder):
    """Finds that one file; the package's data sets and widgets stay where they are."""

    def find(self, path: str, find_all: bool = False, **_more: Any) -> Any:
        """Give the file's place, or nothing."""
        if path != ADDRESS:
            return []
        place = str(package_data() / "plotly.min.js")
        return [place] if find_all else place

    def list(self, ignore_patterns: Iterable[str] | None) -> Iterator[tuple[str, FileSystemStorage]]:
        """List the one file for collectstatic."""
        storage = FileSystemStorage(location=str(package_data()))
        storage.prefix = "plotly"  # type: ignore[attr-defined]
        yield "plotly.min.js", storage
