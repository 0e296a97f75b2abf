"""Whose is it? Ordered rules over what is known of a thing; the first that names a team wins."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import translate
from functools import lru_cache
from typing import Any

NAMESPACE_RULE: Mapping[str, Any] = {"team_from": {"label": "namespace"}}
"""What holds while nobody has declared a rule: the namespace of a job names its team."""


@dataclass(frozen=True)
class Facts:
    """What rules may look at. ``labels`` are the job's and, below them, the instance's; unknown is empty."""

    namespace: str = ""
    host: str = ""
    account: str = ""
    sub_account: str = ""
    provider: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)
    tags: Mapping[str, str] = field(default_factory=dict)
    job_owner: str = ""
    sku: str = ""


@dataclass(frozen=True)
class Match:
    """A team's name as the rule yields it, and the rule's place in its set."""

    team: str
    position: int


def team_name(rules: Sequence[Mapping[str, Any]], facts: Facts, known: Collection[str] | None = None) -> Match | None:
    """Give the team of the first rule that yields one; None is Unassigned.

    A rule with ``team_from`` yields only names in ``known`` (casefolded; None: any), so that a value which names no
    team lets later rules speak.
    """
    for position, rule in enumerate(rules):
        if not matches(rule.get("match") or {}, facts):
            continue
        name = rule.get("team") or _named(rule.get("team_from") or {}, rule.get("strip_prefix") or "", facts)
        if name and (known is None or name.casefold() in known):
            return Match(name, position)
    return None


def matches(wanted: Mapping[str, Any], facts: Facts) -> bool:
    """Whether every key of ``match`` fits. Globs, in any case; ``label``, ``tag`` map names to globs; a list: any."""
    for key, globs in wanted.items():
        if key in ("label", "tag"):
            values = facts.labels if key == "label" else facts.tags
            if not all(_fits(globs[name], lookup(values, name)) for name in globs):
                return False
        elif not _fits(globs, getattr(facts, key)):
            return False
    return True


def lookup(values: Mapping[str, str], name: str) -> str:
    """Find a tag or label: by its exact name, else by the one that differs in case only; '' when it is not there."""
    if name in values:
        return values[name]
    alike = [value for key, value in values.items() if key.casefold() == name.casefold()]
    return alike[0] if len(alike) == 1 else ""


def _named(source: Mapping[str, str], prefix: str, facts: Facts) -> str:
    """Give the name that a tag or label holds, without ``prefix``."""
    for kind, name in source.items():
        value = facts.namespace if (kind, name) == ("label", "namespace") and facts.namespace else ""
        value = value or lookup(facts.tags if kind == "tag" else facts.labels, name)
        if value:
            text = str(value).strip()
            return text[len(prefix) :] if prefix and text.casefold().startswith(prefix.casefold()) else text
    return ""


def _fits(globs: Any, value: str) -> bool:
    """Whether ``value`` is there and fits one of the globs."""
    return bool(value) and any(
        _pattern(glob).match(str(value)) for glob in ([globs] if isinstance(globs, str) else globs)
    )


@lru_cache(maxsize=4096)
def _pattern(glob: str) -> re.Pattern[str]:
    """Compile a glob: `*`, `?` and sets only, never a regular expression of a user."""
    return re.compile(translate(glob), re.IGNORECASE)
