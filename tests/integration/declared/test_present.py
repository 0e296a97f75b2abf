"""The export of the present state: an apply of it changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from config.declared.present import SECTIONS, present_text
from config.declared.sections import FLEET, KEPT
from tests.support.doors import door

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[3]


def test_every_section_is_exported() -> None:
    assert {*SECTIONS, *KEPT} == set(FLEET.keys)


def test_an_apply_of_the_export_changes_nothing(tmp_path: Path) -> None:
    first = door("apply", ROOT / "docs/reference/fleet-example.yaml")
    path = tmp_path / "export.yaml"
    path.write_text(present_text(), encoding="utf-8")
    assert len(yaml.safe_load(present_text())) > 8
    again = door("apply", path)
    assert (again["created"], again["changed"], again["removed"]) == ([], [], [])
    assert again["unchanged"] == len(first["created"])
    pruned = door("apply", path, "--prune")
    assert (pruned["created"], pruned["changed"], pruned["removed"]) == ([], [], [])
