"""Bring the instances of an account to what its provider lists: rows, dated attributes, runs of states."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from psycopg.types.json import Jsonb

from common.database import update_rows
from common.periods import BEGINNING
from fleet.actions.changed_hours import mark_from
from fleet.domain.inventory import (
    ENDED,
    ObservedInstance,
    ProviderState,
    StateRun,
    first_difference,
    first_runs,
    last_start,
    next_runs,
    state_at,
)
from fleet.domain.ports import InstanceProvider
from fleet.models import Account, GpuHour, GpuPlacement, Instance, InstanceState, InstanceVersion


@dataclass
class _Known:
    """An instance as the database has it: its row, dated attributes and runs in order of time."""

    row: Instance
    versions: list[tuple[datetime, Mapping[str, Any]]] = field(default_factory=list)
    runs: list[StateRun] = field(default_factory=list)


@transaction.atomic
def sync_account(account_id: int, *, now: datetime) -> list[ObservedInstance]:
    """Read the account's list and write what is new; give what was listed, with row ids and since when changes hold.

    An account of a kind that nobody reads yet lists nothing, nor does one whose list can't differ from the last one.
    An instance that is not listed is left as it is: only ``end_instances`` ends one. Raises OutsideFailed when the
    provider does.
    """
    account = Account.objects.select_for_update().get(pk=account_id)
    provider = provider_of(account.kind)
    if provider is None or _is_known(account, now):
        return []
    listed = provider.list_instances(account.provider, account.spec, now=now)
    known = _known(account_id)
    relaunched = [one for one in listed if _is_relaunch(known.get(one.external_id), one)]
    for one in relaunched:
        assert one.launched_at is not None
        end_instances([known.pop(one.external_id).row.pk], state=ProviderState.TERMINATED, at=one.launched_at)
    found = [*_add(account, [one for one in listed if one.external_id not in known], now=now)]
    found += _update([(known[one.external_id], one) for one in listed if one.external_id in known], now=now)
    account.synced_at, account.same_until = now, provider.same_until(account.spec, now=now)
    account.save(update_fields=["synced_at", "same_until"])
    return found


def _is_known(account: Account, now: datetime) -> bool:
    """Whether the account's list at ``now`` is the one that was read last."""
    if account.synced_at is None or account.same_until is None:
        return False
    return account.synced_at <= now < account.same_until


def provider_of(kind: str) -> InstanceProvider | None:
    """Give the adapter that lists accounts of ``kind``; None when that kind is kept but not read."""
    path = settings.INSTANCE_PROVIDERS.get(kind)
    provider: InstanceProvider | None = import_string(path)() if path else None
    return provider


@transaction.atomic
def end_instances(instance_ids: Sequence[int], *, state: ProviderState, at: datetime) -> None:
    """Say of these instances that they have ended at ``at``; their past stays."""
    rows = list(Instance.objects.filter(pk__in=instance_ids).exclude(state__in=ENDED))
    runs = _runs(InstanceState.objects.filter(instance__in=rows))
    ended: dict[int, list[StateRun]] = {}
    for row in rows:
        before = [run for run in runs[row.pk] if run.start < at]
        if before and (before[-1].end is None or before[-1].end > at):
            before[-1] = replace(before[-1], end=at)
        ended[row.pk] = [*before, StateRun(at, None, state)]
        row.state = state
    Instance.objects.bulk_update(rows, ["state"], batch_size=1000)
    _write_runs(ended)
    mark_from({row.pk: at for row in rows})


@transaction.atomic
def remove_instances(account_id: int, external_ids: Iterable[str], *, now: datetime) -> None:
    """Take instances off an account: those with a past end now, those that nobody ever saw are deleted."""
    rows = Instance.objects.filter(account_id=account_id, external_id__in=list(external_ids))
    ids = set(rows.values_list("pk", flat=True))
    lived = set(GpuHour.objects.filter(instance_id__in=ids).values_list("instance_id", flat=True).distinct())
    lived |= set(GpuPlacement.objects.filter(instance_id__in=ids).values_list("instance_id", flat=True).distinct())
    Instance.objects.filter(pk__in=ids - lived).delete()
    end_instances(sorted(lived), state=ProviderState.TERMINATED, at=now)


def _known(account_id: int) -> dict[str, _Known]:
    """Load the newest instance of every id of the account."""
    newest = Instance.objects.filter(account_id=account_id).order_by("external_id", "launched_at", "pk")
    known = {row.external_id: _Known(row) for row in newest}
    by_pk = {one.row.pk: one for one in known.values()}
    dated = InstanceVersion.objects.filter(instance_id__in=by_pk).order_by("valid_from")
    for pk, valid_from, attributes in dated.values_list("instance_id", "valid_from", "attributes"):
        by_pk[pk].versions.append((valid_from, attributes))
    for pk, runs in _runs(InstanceState.objects.filter(instance_id__in=by_pk)).items():
        by_pk[pk].runs = runs
    return known


def _runs(rows: Iterable[InstanceState]) -> defaultdict[int, list[StateRun]]:
    """Give the runs of states by instance, in order of time."""
    runs: defaultdict[int, list[StateRun]] = defaultdict(list)
    for row in sorted(rows, key=lambda one: (one.instance_id, one.start)):
        runs[row.instance_id].append(StateRun(row.start, row.end, ProviderState(row.state)))
    return runs


def _is_relaunch(known: _Known | None, seen: ObservedInstance) -> bool:
    """Whether the id stands for a new machine: it was launched later than the one we know."""
    if known is None or seen.launched_at is None or known.row.launched_at is None:
        return False
    return seen.launched_at > known.row.launched_at


def _add(account: Account, seen: Sequence[ObservedInstance], *, now: datetime) -> list[ObservedInstance]:
    """Write instances that are listed for the first time: what is said of them holds from the beginning of time."""
    rows = [Instance(account=account, external_id=one.external_id, first_seen_at=now) for one in seen]
    runs = [first_runs(one) for one in seen]
    for row, one, own in zip(rows, seen, runs, strict=True):
        _fill(row, one, own, now)
    Instance.objects.bulk_create(rows, batch_size=1000)
    InstanceVersion.objects.bulk_create(
        (
            InstanceVersion(instance=row, valid_from=BEGINNING, attributes=dict(one.attributes))
            for row, one in zip(rows, seen, strict=True)
        ),
        batch_size=1000,
    )
    _write_runs({row.pk: own for row, own in zip(rows, runs, strict=True)})
    return [replace(one, instance_id=row.pk, effective_from=BEGINNING) for row, one in zip(rows, seen, strict=True)]


def _update(pairs: Sequence[tuple[_Known, ObservedInstance]], *, now: datetime) -> list[ObservedInstance]:
    """Write what has changed of known instances: new attributes from their date on, new runs of states."""
    found, changed_rows, versions = [], [], []
    changed_runs: dict[int, list[StateRun]] = {}
    changed_from: dict[int, datetime] = {}
    for known, one in pairs:
        row, effective = known.row, one.change_from or now
        if not known.versions or known.versions[-1][1] != one.attributes:
            versions.append(InstanceVersion(instance=row, valid_from=effective, attributes=dict(one.attributes)))
            changed_from[row.pk] = effective
            known.versions = [*(pair for pair in known.versions if pair[0] < effective), (effective, one.attributes)]
        in_force = [attributes for start, attributes in known.versions if start <= now] or [one.attributes]
        runs = next_runs(known.runs, one, now)
        moment = first_difference(known.runs, runs)
        if moment is not None:
            changed_runs[row.pk] = runs
            changed_from[row.pk] = min(changed_from.get(row.pk, moment), moment)
        if _fill(row, replace(one, attributes=in_force[-1]), runs, now):
            changed_rows.append(row)
        found.append(replace(one, instance_id=row.pk, effective_from=effective))
    _write_versions(versions)
    _write_runs(changed_runs)
    _write_rows(changed_rows)
    mark_from(changed_from)
    return found


_FILLED = ["launched_at", "last_started_at", "host", "state", "gpu_count", "attributes"]


def _fill(row: Instance, seen: ObservedInstance, runs: Sequence[StateRun], now: datetime) -> bool:
    """Set what the instance is now; give whether anything differs."""
    before = [getattr(row, name) for name in _FILLED]
    run = state_at(runs, now)
    row.launched_at = seen.launched_at or row.launched_at
    row.last_started_at = max(filter(None, [last_start(runs, now), seen.last_started_at]), default=None)
    row.host = seen.attributes.get("host") or seen.host
    row.state = run.state if run else seen.state
    row.gpu_count = seen.attributes.get("gpu_count")
    row.attributes = dict(seen.attributes)
    return before != [getattr(row, name) for name in _FILLED]


def _write_rows(rows: Sequence[Instance]) -> None:
    """Write what instances are now."""
    columns = ["id", *_FILLED]
    values = ([row.pk, *(getattr(row, name) for name in _FILLED[:-1]), Jsonb(row.attributes)] for row in rows)
    update_rows("fleet_instance", columns, values)


def _write_versions(versions: Sequence[InstanceVersion]) -> None:
    """Write versions; a version that was to begin at or after one of them gives way to it."""
    starts: defaultdict[datetime, list[int]] = defaultdict(list)
    for version in versions:
        starts[version.valid_from].append(version.instance_id)
    for start, ids in starts.items():
        InstanceVersion.objects.filter(instance_id__in=ids, valid_from__gte=start).delete()
    InstanceVersion.objects.bulk_create(versions, batch_size=1000)


def _write_runs(runs: Mapping[int, Sequence[StateRun]]) -> None:
    """Make the runs of states of these instances exactly these."""
    InstanceState.objects.filter(instance_id__in=runs).delete()
    InstanceState.objects.bulk_create(
        (
            InstanceState(instance_id=pk, start=run.start, end=run.end, state=run.state)
            for pk, own in runs.items()
            for run in own
        ),
        batch_size=1000,
    )
