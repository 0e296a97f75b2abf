"""docker-compose.yml as values, with its own words resolved, so that tests can check and start what it says."""

from __future__ import annotations

import re
from typing import Any

import yaml

from tests.architecture.tree import ROOT

OURS = ("prepare", "web", "worker", "beat")
_VARIABLE = re.compile(r"\$\{\w+:-([^}]*)\}")


def compose() -> dict[str, Any]:
    """Give the file's document, anchors merged."""
    document: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return document


def environment(service: str) -> dict[str, str]:
    """Give the environment of a service, where nothing is set on the machine."""
    given: dict[str, Any] = compose()["services"][service].get("environment", {})
    return {name: _VARIABLE.sub(r"\1", str(value)) for name, value in given.items()}
