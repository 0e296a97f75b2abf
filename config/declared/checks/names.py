"""Names: each once, and none that stands for nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from config.declared.checks.known import Known, known_names
from config.declared.document import Document
from config.declared.nearest import did_you_mean
from config.declared.nodes import Path

ONCE = {
    "teams": "name",
    "people": "email",
    "sources": "name",
    "accounts": "name",
    "commitments": "name",
    "policies": "name",
    "budgets": "name",
    "channels": "name",
    "mappings": "name",
}
REFERENCES = (
    ("teams", "team", "parent"),
    ("ownership", "team", "team"),
    ("budgets", "team", "team"),
    ("budgets", "account", "account"),
    ("commitments", "account", "account"),
)
"""(section, kind, key) of things that name one other thing."""
SELECTORS = (("sources", "covers"), ("policies", "select"), ("policies", "exclude"), ("routes", "match"))
"""(section, key) of mappings that list teams, accounts, profiles."""


def check_doubles(document: Document) -> None:
    """Refuse two things of one name, in any case; instances once within their account."""
    for section, key in ONCE.items():
        _once(document, (((*path, key), thing.get(key)) for path, thing in document.listed(section)), fold=True)
    for path, account in document.listed("accounts"):
        instances = enumerate(account.get("instances") or [])
        _once(
            document,
            (((*path, "instances", number, "id"), (one or {}).get("id")) for number, one in instances),
            fold=False,
        )


def _once(document: Document, named: Iterable[tuple[Path, str | None]], *, fold: bool) -> None:
    """Tell every name that stands a second time."""
    first: dict[str, Path] = {}
    for path, name in named:
        if name is None:
            continue
        seen = first.setdefault(name.casefold() if fold else name, path)
        if seen is not path:
            line = document.where(seen).line
            document.wrong(
                path,
                "duplicate_name",
                f"{name!r} stands twice; the first is in line {line}.",
                "Keep one, or rename one.",
            )


def check_references(document: Document, *, prune: bool) -> None:
    """Refuse names of teams, accounts, channels, profiles that stand for nothing; warn of unknown people.

    What is spelled in another case is put as the thing itself is spelled.
    """
    known = known_names(document, prune=prune)
    for kind, path, name in list(_references(document)):
        if name.casefold() in known.of(kind):
            document.put(path, known.of(kind)[name.casefold()])
        else:
            hint = did_you_mean(name, known.of(kind).values()) or f"Declare the {kind}, or name another."
            document.wrong(path, f"unknown_{kind}", f"There is no {kind} {name!r}.", hint)
    _check_people(document, known)


def _references(document: Document) -> Iterator[tuple[str, Path, str]]:
    """Yield (kind, path, name) of everything that names something else."""
    for section, kind, key in REFERENCES:
        for path, thing in document.listed(section):
            yield from _one(kind, path, thing, key)
    for section, key in SELECTORS:
        for path, thing in document.listed(section):
            yield from _of_selector((*path, key), thing.get(key) or {})
    for path, route in document.listed("routes"):
        yield from _many("channel", path, route, "channels")
        yield from _many("channel", path, route, "fallback")
    for path, role in _inner(document, "people", "roles"):
        yield from _one("team", path, role, "team")
    for path, instance in _inner(document, "accounts", "instances"):
        yield from _one("profile", path, instance, "profile")


def _inner(document: Document, section: str, key: str) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield path and value of the things listed under ``key`` of each thing of a section."""
    for path, thing in document.listed(section):
        for number, one in enumerate(thing.get(key) or []):
            if one is not None:
                yield (*path, key, number), one


def _of_selector(path: Path, selector: Mapping[str, Any]) -> Iterator[tuple[str, Path, str]]:
    for kind in ("team", "account", "profile"):
        yield from _many(kind, path, selector, f"{kind}s")


def _one(kind: str, path: Path, thing: Mapping[str, Any], key: str) -> Iterator[tuple[str, Path, str]]:
    if thing.get(key):
        yield kind, (*path, key), thing[key]


def _many(kind: str, path: Path, thing: Mapping[str, Any], key: str) -> Iterator[tuple[str, Path, str]]:
    for number, name in enumerate(thing.get(key) or []):
        if name:
            yield kind, (*path, key, number), name


def _check_people(document: Document, known: Known) -> None:
    """Warn of addresses that belong to nobody here: they may come later through SSO."""
    people = known.of("person")
    for section, keys in (("exemptions", ("owner", "approver")), ("policies", ("destroys",))):
        for path, thing in document.listed(section):
            for key in keys:
                _warn_stranger(document, (*path, key), thing.get(key), people)
    for path, instance in _inner(document, "accounts", "instances"):
        _warn_stranger(document, (*path, "owner"), instance.get("owner"), people)


def _warn_stranger(document: Document, path: Path, address: str | None, people: Mapping[str, str]) -> None:
    if address and "@" in address and people and address.casefold() not in people:
        document.warn(
            path,
            "unknown_person",
            f"{address} is not among the people: messages go there, but nobody signs in.",
        )
