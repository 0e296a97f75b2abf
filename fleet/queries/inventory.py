"""What instances there are and were: running at a time, their states, attributes and starts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Q, QuerySet
from django.db.models.fields.json import KeyTextTransform

from common.periods import BEGINNING
from fleet.domain.inventory import RUNS, ProviderState, StateRun
from fleet.models import Account, GpuPlacement, Instance, InstanceState, InstanceVersion


@dataclass(frozen=True)
class InstanceAt:
    """An instance as it was at a time. ``account`` is None for a host that no account knows."""

    id: int
    external_id: str
    account: str | None
    host: str
    state: str
    started_at: datetime | None  # newest of launch, last start and resume up to then; None: not known
    attributes: Mapping[str, Any]


def instances_at(
    at: datetime,
    attributes: Mapping[int, Mapping[str, Any]] | None = None,
    starts: Mapping[int, Sequence[datetime]] | None = None,
    only: Collection[int] | None = None,
) -> list[InstanceAt]:
    """Give every instance that was there at ``at``, in any state, in the order of account and id.

    ``attributes``, ``starts``: what `versions` and `starts_up_to` say at ``at``, where they are read already.
    ``only``: of these instances.

    An instance of an account is there once the first of its runs has begun (terminated ones too); a host that no
    account knows is there while a GPU stands in it.
    """
    within = {} if only is None else {"instance_id__in": only}
    states = {row.instance_id: row for row in _open_at(InstanceState.objects.filter(**within), at)}
    standing = set(
        _open_at(GpuPlacement.objects.filter(instance__account=None, **within), at).values_list(
            "instance_id", flat=True
        )
    )
    attributes = versions(at, only) if attributes is None else attributes
    started = {pk: known[-1] for pk, known in (starts_up_to(at, only) if starts is None else starts).items()}
    found = []
    chosen = Instance.objects.all() if only is None else Instance.objects.filter(pk__in=only)
    rows = chosen.order_by(F("account__name").asc(nulls_first=True), "external_id", "pk")
    named: Iterable[tuple[int, str, str | None, str]] = rows.values_list("pk", "external_id", "account__name", "host")
    for pk, external_id, account, host in named:
        state = states[pk].state if pk in states else None
        if account is None:
            state = ProviderState.RUNNING if pk in standing else None
        if state is not None:
            found.append(
                InstanceAt(pk, external_id, account, host, state, started.get(pk), attributes.get(pk, {"host": host}))
            )
    return found


def running_instances(at: datetime) -> list[InstanceAt]:
    """Give the instances that were running (or stopping) at ``at``."""
    return [one for one in instances_at(at) if one.state in RUNS]


def states_between(instance_ids: Collection[int], since: datetime, until: datetime) -> dict[int, list[StateRun]]:
    """Give the runs of states that touch [since, until), whole, in order of time, by instance."""
    rows = InstanceState.objects.filter(instance_id__in=instance_ids, start__lt=until).filter(
        Q(end=None) | Q(end__gt=since)
    )
    runs: defaultdict[int, list[StateRun]] = defaultdict(list)
    for pk, start, end, state in rows.order_by("start").values_list("instance_id", "start", "end", "state"):
        runs[pk].append(StateRun(start, end, ProviderState(state)))
    return dict(runs)


def versions(at: datetime, instance_ids: Collection[int] | None = None) -> dict[int, Mapping[str, Any]]:
    """Give the attributes in force at ``at`` by instance."""
    rows = InstanceVersion.objects.filter(valid_from__lte=at)
    if instance_ids is not None:
        rows = rows.filter(instance_id__in=instance_ids)
    newest = rows.order_by("instance_id", "-valid_from").distinct("instance_id")
    return dict(newest.values_list("instance_id", "attributes"))


def starts_up_to(at: datetime, only: Collection[int] | None = None) -> dict[int, list[datetime]]:
    """Give every start up to ``at`` that is known of an instance (``only``: of these), in order.

    They are its launch, its last start as told, and the beginnings of runs of `running`.
    """
    found: defaultdict[int, set[datetime]] = defaultdict(set)
    ran = InstanceState.objects.filter(state=ProviderState.RUNNING, start__lte=at, start__gt=BEGINNING)
    told = Instance.objects.all()
    if only is not None:
        ran, told = ran.filter(instance_id__in=only), told.filter(pk__in=only)
    for pk, start in ran.values_list("instance_id", "start"):
        found[pk].add(start)
    for pk, launched, started in told.values_list("pk", "launched_at", "last_started_at"):
        found[pk].update(moment for moment in (launched, started) if moment is not None and moment <= at)
    return {pk: sorted(starts) for pk, starts in found.items() if starts}


def has_accounts(at: datetime) -> bool:
    """Whether any account knew an instance at ``at``."""
    return _open_at(InstanceState.objects.filter(instance__account__isnull=False), at).exists()


def contested_hosts(at: datetime) -> set[str]:
    """Give the hosts that two or more running instances claim at ``at``: what telemetry says of them has no owner."""
    running = _open_at(InstanceState.objects.filter(state__in=RUNS), at).exclude(instance__host="")
    claims = running.values("instance__host").annotate(count=Count("instance_id", distinct=True)).filter(count__gt=1)
    return set(claims.values_list("instance__host", flat=True))


def unread_accounts() -> list[tuple[str, str]]:
    """Give name and kind of the accounts whose instances nobody lists yet (doctor: not_supported_yet)."""
    rows = Account.objects.filter(removed_at=None).exclude(kind__in=settings.INSTANCE_PROVIDERS).order_by("name")
    return list(rows.values_list("name", "kind"))


def read_accounts() -> list[tuple[int, str]]:
    """Give row id and name of the accounts whose instances are listed, for the periodic sync."""
    rows = Account.objects.filter(removed_at=None, kind__in=settings.INSTANCE_PROVIDERS).order_by("name")
    return list(rows.values_list("pk", "name"))


def _open_at(rows: QuerySet[Any], at: datetime) -> QuerySet[Any]:
    """Narrow half-open runs to those that hold ``at``."""
    return rows.filter(start__lte=at).filter(Q(end=None) | Q(end__gt=at))


def account_names(*, undeclared_only: bool = False) -> list[str]:
    """Give the names of all accounts, or of those that no file has declared."""
    rows = Account.objects.filter(removed_at=None)
    return list((rows.filter(declared=None) if undeclared_only else rows).values_list("name", flat=True))


def has_instance(reference: str) -> bool:
    """Whether ``id`` or ``account/id`` is an instance that was ever seen."""
    account, _, external_id = reference.partition("/")
    named = Q(external_id=reference) | (
        Q(external_id=external_id, account__name=account) if external_id else Q(pk=None)
    )
    return Instance.objects.filter(named).exists()


def instance_names(instance_ids: Collection[int]) -> dict[int, tuple[str, str | None]]:
    """Give id and account (None: no account knows it) as people read them, by row id."""
    rows = Instance.objects.filter(pk__in=instance_ids).values_list("pk", "external_id", "account__name")
    return {pk: (external_id, account) for pk, external_id, account in rows}


def providers_have_changed() -> bool:
    """Say whether an instance ever stood under another provider than its account has now."""
    then = InstanceVersion.objects.annotate(then=KeyTextTransform("provider", "attributes"))
    return then.filter(instance__account__isnull=False).exclude(then=F("instance__account__provider")).exists()
