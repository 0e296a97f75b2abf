"""docs/reference/openapi.yaml is what the code says."""

from __future__ import annotations

import yaml

from config.api.document import openapi, openapi_yaml
from tests.architecture.tree import ROOT

COMMITTED = ROOT / "docs" / "reference" / "openapi.yaml"
WHOLE = {"/api/v1/settings/"}  # one document


def test_the_committed_document_is_current() -> None:
    assert COMMITTED.read_text(encoding="utf-8") == openapi_yaml(), "run `make openapi`"


def test_every_route_says_what_it_refuses_and_how_to_come_in() -> None:
    for path, methods in openapi()["paths"].items():
        assert set(methods) == {"get"}, path
        assert set(methods["get"]["responses"]) == {"200", "400", "401", "403", "404", "429"}
        assert methods["get"]["security"] == [{"token": []}, {"session": []}]
        assert all(one.get("description") for one in methods["get"].get("parameters", ())), path


def test_lists_are_bounded() -> None:
    for path, methods in openapi()["paths"].items():
        limits = [one["schema"] for one in methods["get"].get("parameters", ()) if one["name"] == "limit"]
        is_one_thing = "{" in path or path in WHOLE
        assert bool(limits) != is_one_thing, path
        assert all(one["default"] <= one["maximum"] <= 500 for one in limits)


def test_the_document_is_valid_yaml_of_the_version_it_names() -> None:
    assert yaml.safe_load(COMMITTED.read_text(encoding="utf-8"))["openapi"] == "3.1.0"
