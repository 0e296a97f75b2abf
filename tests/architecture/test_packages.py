"""What we stand on: each direct dependency has a reason, all are locked by hash, pyproject.toml names the same ones."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.architecture.tree import ROOT

REQUIREMENTS = ROOT / "requirements"


def direct(name: str) -> dict[str, str]:
    """Give {name with extras, lower case: reason} of ``requirements/<name>.in``."""
    found = {}
    for line in (REQUIREMENTS / f"{name}.in").read_text(encoding="utf-8").splitlines():
        requirement, _, reason = line.partition("#")
        if requirement.strip():
            found[re.split(r"[~=<>! ]", requirement.strip())[0].lower()] = reason.strip()
    return found


def test_every_product_dependency_has_a_reason() -> None:
    assert [name for name, reason in direct("base").items() if not reason] == []


def test_pyproject_names_the_same_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert sorted(name.lower() for name in project["dependencies"]) == sorted(direct("base"))


@pytest.mark.parametrize("name", ["base", "dev"])
def test_lock_has_a_hash_for_every_package(name: str) -> None:
    text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
    packages = re.findall(
        r"^([a-z0-9][^\s=]*)==\S+ \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", text, re.MULTILINE
    )
    assert len(packages) == len(re.findall(r"^[a-z0-9]", text, re.MULTILINE))
    locked = {package for package, _ in packages}
    wanted = set(direct("base")) | (set(direct("dev")) if name == "dev" else set())
    assert {re.sub(r"\[.*", "", one).replace("_", "-") for one in wanted} <= {
        re.sub(r"\[.*", "", one) for one in locked
    }


def test_both_locks_hold_the_same_versions() -> None:
    def versions(name: str) -> dict[str, str]:
        text = (REQUIREMENTS / f"{name}.txt").read_text(encoding="utf-8")
        return dict(re.findall(r"^([a-z0-9][^\s=]*)==(\S+)", text, re.MULTILINE))

    assert versions("base").items() <= versions("dev").items()
