"""Declare accounts and, in those of kind `static`, their instances."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from common.declared import Change, Spec, Verb, declare_rows, differing, settle_leftovers
from fleet.actions.inventory import end_instances, remove_instances
from fleet.domain.inventory import ENDED, ProviderState
from fleet.models import Account, Instance

COLUMNS = ("name", "kind", "provider")


@dataclass
class DeclaredAccounts:
    """What was done, and the rows (ids) whose inventory has to be read again."""

    changes: list[Change] = field(default_factory=list)
    to_sync: list[int] = field(default_factory=list)


def declare_accounts(wanted: Sequence[Spec], *, now: datetime, prune: bool) -> DeclaredAccounts:
    """Create and change accounts with their instances; the instances' rows follow with ``sync_account``."""
    rows = {row.name: row for row in Account.objects.select_for_update()}

    def fill(row: Account, spec: Spec) -> None:
        row.name, row.kind, row.provider = spec["name"], spec["kind"], spec["provider"]
        row.removed_at = row.synced_at = None
        row.spec = {**_without(spec, COLUMNS), "instances": row.spec.get("instances") or []}

    def current(row: Account) -> Spec:
        form = {"name": row.name, "kind": row.kind, "provider": row.provider, **_without(row.spec, ("instances",))}
        return form if row.removed_at is None else {**form, "removed_at": row.removed_at}

    names = [(spec["name"], _without(spec, ("instances",))) for spec in wanted]

    done = DeclaredAccounts(
        declare_rows("account", rows, names, make=lambda name: Account(name=name), fill=fill, current=current)
    )
    touched = {change.name for change in done.changes if change.verb is not Verb.UNCHANGED}
    declared = {row.name: row for row in Account.objects.filter(name__in=dict(names))}
    for spec in wanted:
        row = declared[spec["name"]]
        changes = _declare_instances(row, _instances(row), spec.get("instances") or [], now=now, prune=prune)
        done.changes += changes
        told = any(change.verb in (Verb.CREATED, Verb.CHANGED, Verb.REMOVED) for change in changes)
        if told or row.name in touched:
            done.to_sync.append(row.pk)
    kept = {name: row for name, row in rows.items() if row.removed_at is None}
    done.changes += settle_leftovers("account", kept, dict(names), prune=prune, remove=lambda row: _remove(row, now))
    return done


def _declare_instances(
    row: Account, old: Mapping[str, Spec], wanted: Sequence[Spec], *, now: datetime, prune: bool
) -> list[Change]:
    """Keep the declared instances in the account's spec; those that the file leaves out stay until they are pruned."""
    new = {spec["id"]: dict(spec) for spec in wanted}
    changes = [_instance_change(row.name, old.get(name), spec) for name, spec in new.items()]
    left = [name for name in old if name not in new]
    if prune:
        remove_instances(row.pk, left, now=now)
    else:
        new |= {name: dict(old[name]) for name in left}
    changes += [Change(Verb.REMOVED if prune else Verb.LEFT, "instance", f"{row.name}/{name}") for name in left]
    if list(new.values()) != list(old.values()):
        row.spec, row.synced_at = {**row.spec, "instances": list(new.values())}, None
        row.save(update_fields=["spec", "synced_at"])
    return changes


def _instance_change(account: str, old: Spec | None, new: Spec) -> Change:
    """Say what is different of one instance."""
    name = f"{account}/{new['id']}"
    if old is None:
        return Change(Verb.CREATED, "instance", name)
    fields = differing(old, new)
    return Change(Verb.CHANGED if fields else Verb.UNCHANGED, "instance", name, fields)


def _remove(row: Account, now: datetime) -> None:
    """Remove an account; one with a past keeps its row and its instances end now."""
    remove_instances(row.pk, row.instances.values_list("external_id", flat=True), now=now)
    if not row.instances.exists():
        row.delete()
        return
    open_ids = list(Instance.objects.filter(account=row).exclude(state__in=ENDED).values_list("pk", flat=True))
    end_instances(open_ids, state=ProviderState.TERMINATED, at=now)
    row.removed_at, row.declared, row.spec = now, None, {}
    row.save()


def _instances(row: Account) -> dict[str, Spec]:
    """Give the declared instances by id."""
    return {spec["id"]: spec for spec in row.spec.get("instances") or []}


def _without(spec: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in spec.items() if key not in keys}
