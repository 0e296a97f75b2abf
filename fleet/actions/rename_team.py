"""A team got another name: the rules that name it follow, in every set, so that no hour changes hands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from common.periods import BEGINNING
from fleet.domain.ownership import NAMESPACE_RULE
from fleet.models import Job, OwnershipRule

Rule = Mapping[str, Any]


@transaction.atomic
def follow_rename(*, old: str, new: str) -> bool:
    """Let every ownership rule that yields ``old`` yield ``new``; say whether rules changed.

    A rule that takes the team's name from a tag or label gets one before it that translates this name. Without any
    declared rule the namespaces name the teams: then a first set is written that does the same.
    """
    rows = list(OwnershipRule.objects.order_by("valid_from", "position"))
    if not rows:
        jobs = Job.objects.filter(labels__namespace__iexact=old).exists()
        if jobs:
            first = renamed([NAMESPACE_RULE], old, new)
            _write({BEGINNING: (first, first)})
        return jobs
    sets: dict[datetime, list[Rule]] = {}
    declared: dict[datetime, list[Rule]] = {}
    for row in rows:
        sets.setdefault(row.valid_from, []).append(row.spec)
        if row.declared_set is not None:
            declared[row.valid_from] = row.declared_set
    wanted = {at: (renamed(rules, old, new), renamed(declared.get(at, rules), old, new)) for at, rules in sets.items()}
    if all(wanted[at][0] == rules for at, rules in sets.items()):
        return False
    OwnershipRule.objects.all().delete()
    _write(wanted)
    return True


def renamed(rules: Sequence[Rule], old: str, new: str) -> list[Rule]:
    """Give the rules with ``old`` replaced, and its translation before each rule that could yield it by name."""
    found: list[Rule] = []
    for rule in rules:
        if str(rule.get("team") or "").casefold() == old.casefold():
            found.append({**rule, "team": new})
            continue
        if rule.get("team_from"):
            found.append(_translation(rule, old, new))
        found.append(rule)
    return found


def _translation(rule: Rule, old: str, new: str) -> Rule:
    (kind, name), *_ = rule["team_from"].items()
    prefix = rule.get("strip_prefix") or ""
    globs = [_plain(old), *([_plain(prefix + old)] if prefix else [])]
    wanted: dict[str, Any] = {**(rule.get("match") or {})}
    if (kind, name) == ("label", "namespace") and "namespace" not in wanted:
        wanted["namespace"] = globs
    else:
        wanted[kind] = {**wanted.get(kind, {}), name: globs}
    dated = {"valid_from": rule["valid_from"]} if rule.get("valid_from") else {}
    return {"team": new, "match": wanted, **dated}


def _plain(text: str) -> str:
    """Write a name as a glob that fits only itself."""
    return re.sub(r"([*?[])", r"[\1]", text)


def _write(sets: Mapping[datetime, tuple[Sequence[Rule], Sequence[Rule]]]) -> None:
    OwnershipRule.objects.bulk_create(
        OwnershipRule(
            valid_from=at, position=position, spec=dict(rule), declared_set=list(declared) if position == 0 else None
        )
        for at, (rules, declared) in sets.items()
        for position, rule in enumerate(rules)
    )
