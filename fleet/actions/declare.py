"""Declare sources, policies, exemptions and the organisation's idle rule."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from common.declared import Change, Spec, Verb, declare_rows, settle_leftovers
from common.periods import BEGINNING, iso, parse_moment
from fleet.actions.changed_hours import mark_all_from
from fleet.models import Exemption, IdleRuleVersion, Policy, Source


def declare_sources(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change sources; one that has been read is switched off instead of deleted."""
    rows = {row.name: row for row in Source.objects.all()}

    def current(row: Source) -> Spec:
        return {"name": row.name, "kind": row.kind, "enabled": row.is_enabled, **row.spec}

    def remove(row: Source) -> None:
        if row.collected_until is None and not row.pulls.exists() and not row.gpus.exists():
            row.delete()
            return
        row.is_enabled, row.declared = False, None
        row.save()

    names = [(spec["name"], spec) for spec in wanted]
    changes = declare_rows(
        "source", rows, names, make=lambda name: Source(name=name), fill=fill_source, current=current
    )
    return [*changes, *settle_leftovers("source", rows, dict(names), prune=prune, remove=remove)]


def fill_source(row: Source, spec: Spec) -> None:
    """Set a source to its form, which a file declared or a page gave."""
    row.name, row.kind, row.is_enabled = spec["name"], spec["kind"], spec["enabled"]
    row.spec = {key: value for key, value in spec.items() if key not in ("name", "kind", "enabled")}


def declare_policies(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change policies in file order; a change of more than the order makes a new version."""
    rows = {row.name: row for row in Policy.objects.all()}

    def fill(row: Policy, spec: Spec) -> None:
        form = {key: value for key, value in spec.items() if key != "position"}
        if not row._state.adding and row.spec != form:
            row.version += 1
        row.name, row.position, row.spec = spec["name"], spec["position"], form

    names = [(spec["name"], {**spec, "position": position}) for position, spec in enumerate(wanted)]
    changes = declare_rows(
        "policy",
        rows,
        names,
        make=lambda name: Policy(name=name),
        fill=fill,
        current=lambda row: {**row.spec, "position": row.position},
    )
    return [*changes, *settle_leftovers("policy", rows, dict(names), prune=prune, remove=lambda row: row.delete())]


def declare_exemptions(wanted: Sequence[Spec], *, prune: bool) -> list[Change]:
    """Create and change exemptions; several of one instance are told apart by their order."""
    rows = dict(_numbered([(row.instance_ref, row) for row in Exemption.objects.order_by("pk")]))

    def fill(row: Exemption, spec: Spec) -> None:
        row.instance_ref, row.reason = spec["instance"], spec["reason"]
        row.owner, row.approver = spec.get("owner") or "", spec.get("approver") or ""
        row.until = parse_moment(spec["until"]) if spec.get("until") else None

    def current(row: Exemption) -> Spec:
        form = {
            "instance": row.instance_ref,
            "reason": row.reason,
            "owner": row.owner or None,
            "approver": row.approver or None,
        }
        return {**form, "until": iso(row.until) if row.until else None}

    names = _numbered([(spec["instance"], spec) for spec in wanted])
    changes = declare_rows("exemption", rows, names, make=lambda _: Exemption(), fill=fill, current=current)
    return [*changes, *settle_leftovers("exemption", rows, dict(names), prune=prune, remove=lambda row: row.delete())]


def _numbered(pairs: Sequence[tuple[str, Any]]) -> list[tuple[str, Any]]:
    """Give names that differ: the second of one name is called ``name #2``."""
    seen: Counter[str] = Counter()
    named = []
    for name, value in pairs:
        seen[name] += 1
        named.append((name if seen[name] == 1 else f"{name} #{seen[name]}", value))
    return named


def declare_idle_rule(spec: Mapping[str, Any] | None, *, now: datetime) -> list[Change]:
    """Keep the organisation's idle rule: the first from the beginning of time, a later one from now or `valid_from`.

    None (the file says nothing of it) leaves the rule as it is.
    """
    if spec is None:
        return []
    rule = {key: value for key, value in spec.items() if key != "valid_from"}
    newest = IdleRuleVersion.objects.order_by("-valid_from").first()
    if newest is not None and newest.spec == rule:
        return [Change(Verb.UNCHANGED, "idle_rule", "organization")]
    told = parse_moment(spec["valid_from"]) if spec.get("valid_from") else now
    start = BEGINNING if newest is None else told
    IdleRuleVersion.objects.filter(valid_from__gte=start).delete()
    IdleRuleVersion.objects.create(valid_from=start, spec=rule)
    mark_all_from(start)
    if newest is None:
        return [Change(Verb.CREATED, "idle_rule", "organization")]
    fields = tuple(key for key in sorted({*newest.spec, *rule}) if newest.spec.get(key) != rule.get(key))
    return [Change(Verb.CHANGED, "idle_rule", "organization", fields)]
