"""Give every GPU the instance it stands in, now and in its past, by the host that telemetry names."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from common.database import take_lock
from fleet.actions.changed_hours import mark_from
from fleet.actions.ownership import make_telemetry_teams
from fleet.domain.hosts import HostBook, Life, Stay
from fleet.domain.inventory import ENDED, ProviderState
from fleet.models import GpuPlacement, Instance, InstanceState


@dataclass(frozen=True)
class _Placement:
    """A placement as it is read: without a model, since there is one for every GPU."""

    id: int
    gpu_id: int
    host: str
    instance_id: int | None
    start: datetime
    end: datetime | None


_FIELDS = ("id", "gpu_id", "host", "instance_id", "start", "end")


@transaction.atomic
def join_hosts(*, now: datetime, gpu_ids: Collection[int] | None = None) -> None:  # noqa: ARG001  as every action
    """Join placements to instances, split where a host changed hands; a host that no account knows is one of its own.

    ``now`` is the time of the pass; what is written has the times that telemetry and accounts tell. ``gpu_ids``: only
    the placements of these GPUs, when nothing else can have changed.
    """
    take_lock("fleet.join_hosts")
    rows = GpuPlacement.objects.all() if gpu_ids is None else GpuPlacement.objects.filter(gpu_id__in=gpu_ids)
    placements = [_Placement(*row) for row in rows.order_by("gpu_id", "start").values_list(*_FIELDS)]
    book = HostBook(_lives(), set(GpuPlacement.objects.values_list("host", flat=True).distinct()))
    pieces = [(one, book.stays(one.host, one.start, one.end)) for one in placements if one.host]
    unknown = _unknown_hosts([(one.host, stay) for one, stays in pieces for stay in stays if stay.instance_id is None])
    named = [(one, _named(stays, unknown.get(one.host))) for one, stays in pieces]
    wrong = [(one, stays) for one, stays in named if len(stays) != 1 or stays[0].instance_id != one.instance_id]
    if wrong:
        _write(wrong)
        _retire_strangers()
    _point_gpus(gpu_ids)
    make_telemetry_teams()


def _lives() -> list[Life]:
    """Give the lives of all instances of accounts."""
    ends = dict(InstanceState.objects.filter(state__in=ENDED, end=None).values_list("instance_id", "start"))
    rows = Instance.objects.exclude(account=None).values_list("id", "host", "launched_at")
    return [Life(pk, host, launched, ends.get(pk)) for pk, host, launched in rows]


def _unknown_hosts(needed: Sequence[tuple[str, Stay]]) -> dict[str, int]:
    """Give the instances of hosts that no account knows, made where they are not there yet."""
    hosts: dict[str, datetime] = {}
    for host, stay in needed:
        hosts[host] = min(hosts.get(host, stay.start), stay.start)
    there = {row.external_id: row for row in Instance.objects.filter(account=None, external_id__in=hosts)}
    standing = {host for host, stay in needed if stay.end is None}
    back = [row.pk for row in there.values() if row.state == ProviderState.GONE and row.external_id in standing]
    Instance.objects.filter(pk__in=back).update(state=ProviderState.RUNNING)
    new = [
        Instance(external_id=host, host=host, first_seen_at=start, attributes={"host": host})
        for host, start in hosts.items()
        if host not in there
    ]
    Instance.objects.bulk_create(new, batch_size=1000)
    return {row.external_id: row.pk for row in [*there.values(), *new]}


def _named(stays: Sequence[Stay], stranger: int | None) -> list[Stay]:
    """Put the instance of the unknown host where no account knows it."""
    return [stay if stay.instance_id is not None else Stay(stay.start, stay.end, stranger) for stay in stays]


def _write(wrong: Sequence[tuple[_Placement, Sequence[Stay]]]) -> None:
    """Rewrite placements as their stays: the first keeps the row, more get rows. Old and new hours are marked."""
    since: dict[int, datetime] = {}
    for one, stays in wrong:
        for instance_id, start in [(one.instance_id, one.start), *((stay.instance_id, stay.start) for stay in stays)]:
            if instance_id is not None:
                since[instance_id] = min(since.get(instance_id, start), start)
    with connection.cursor() as cursor:
        cursor.execute(
            'UPDATE fleet_gpuplacement AS row SET instance_id = new.instance, "end" = new.stop'
            " FROM unnest(%s::bigint[], %s::bigint[], %s::timestamptz[]) AS new (id, instance, stop)"
            " WHERE row.id = new.id",
            [
                [one.id for one, _ in wrong],
                [stays[0].instance_id for _, stays in wrong],
                [stays[0].end for _, stays in wrong],
            ],
        )
    GpuPlacement.objects.bulk_create(
        (
            GpuPlacement(gpu_id=one.gpu_id, host=one.host, start=stay.start, end=stay.end, instance_id=stay.instance_id)
            for one, stays in wrong
            for stay in stays[1:]
        ),
        batch_size=2000,
    )
    mark_from(since)


def _retire_strangers() -> None:
    """Say `gone` of unknown hosts in which no GPU stands any more, because an account has claimed them."""
    open_placements = GpuPlacement.objects.filter(end=None, instance__account=None).values("instance_id")
    strangers = Instance.objects.filter(account=None).exclude(state=ProviderState.GONE)
    strangers.exclude(pk__in=open_placements.exclude(instance=None)).update(state=ProviderState.GONE)


def _point_gpus(gpu_ids: Collection[int] | None) -> None:
    """Set every GPU's instance of now from its newest placement."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE fleet_gpu AS gpu SET instance_id = newest.instance_id
            FROM (
                SELECT DISTINCT ON (gpu_id) gpu_id, instance_id FROM fleet_gpuplacement
                WHERE %s OR gpu_id = ANY(%s) ORDER BY gpu_id, start DESC
            ) AS newest
            WHERE gpu.id = newest.gpu_id AND gpu.instance_id IS DISTINCT FROM newest.instance_id
            """,
            [gpu_ids is None, list(gpu_ids or ())],
        )
