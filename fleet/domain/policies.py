"""Which policy does an instance have? The first in file order that selects it and does not exclude it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fleet.domain.ownership import lookup


@dataclass(frozen=True)
class PolicyFacts:
    """What a selector may look at. ``teams``: the team and the teams above it, casefolded; unknown is empty."""

    teams: frozenset[str] = frozenset()
    profile: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    account: str = ""
    purchase_option: str = ""


@dataclass(frozen=True)
class Selector:
    """One policy's `select` and `exclude`, ready to be asked many times."""

    name: str
    select: Mapping[str, Any]
    exclude: Mapping[str, Any]


@dataclass(frozen=True)
class Choice:
    """The policy's name (None: no policy), and the first policy that would have it but excludes it."""

    policy: str | None
    excluded_by: str | None = None
    because: str = ""  # the key of `exclude` that fits: tags workload=serving


def selector(name: str, spec: Mapping[str, Any]) -> Selector:
    """Read a policy's declared form."""
    return Selector(name, spec.get("select") or {}, spec.get("exclude") or {})


def choose(selectors: Sequence[Selector], facts: PolicyFacts) -> Choice:
    """Give the first policy whose every `select` key fits and no `exclude` key does.

    An excluded instance goes on to the next policy; if none takes it, ``excluded_by`` is the first that excluded it.
    """
    excluded_by, because = None, ""
    for one in selectors:
        if not all(_fits(key, wanted, facts) for key, wanted in one.select.items()):
            continue
        reason = next(
            (_reason(key, wanted, facts) for key, wanted in one.exclude.items() if _excludes(key, wanted, facts)), ""
        )
        if not reason:
            return Choice(one.name)
        if excluded_by is None:
            excluded_by, because = one.name, reason
    return Choice(None, excluded_by, because)


def _fits(key: str, wanted: Any, facts: PolicyFacts) -> bool:
    """Whether one key of `select` fits; one that names nothing fits everything."""
    if not wanted:
        return True
    if key == "tags":
        return all(_has_tag(facts, name, values) for name, values in wanted.items())
    return _has(key, wanted, facts)


def _excludes(key: str, wanted: Any, facts: PolicyFacts) -> bool:
    """Whether one key of `exclude` fits: any of its tags is enough, since leaving alone is the safe side."""
    if not wanted:
        return False
    if key == "tags":
        return any(_has_tag(facts, name, values) for name, values in wanted.items())
    return _has(key, wanted, facts)


def _has(key: str, wanted: Sequence[str], facts: PolicyFacts) -> bool:
    """Whether a list-like key (teams, profiles, accounts, purchase_options) names what the instance is."""
    folded = {value.casefold() for value in wanted}
    if key == "teams":
        return bool(folded & facts.teams)
    value = {"profiles": facts.profile, "accounts": facts.account, "purchase_options": facts.purchase_option}[key]
    return bool(value) and value.casefold() in folded


def _has_tag(facts: PolicyFacts, name: str, values: Sequence[str]) -> bool:
    """Whether the tag ``name`` holds one of ``values``, in any case."""
    value = lookup(facts.tags, name)
    return bool(value) and value.casefold() in {one.casefold() for one in values}


def _reason(key: str, wanted: Any, facts: PolicyFacts) -> str:
    """Say which tag or key excludes."""
    if key != "tags":
        return key
    name = next(name for name, values in wanted.items() if _has_tag(facts, name, values))
    return f"{name}={lookup(facts.tags, name)}"
