"""Give every GPU the instance it stands in, now and in its past, by the host that telemetry names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction

from fleet.actions.changed_hours import mark_from, mark_placements
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


@transaction.atomic
def join_hosts(*, now: datetime) -> None:
    """Join placements to instances; make an instance of every host that no account knows; split where a host changed hands."""
    placements = [_Placement(*row) for row in _read_placements()]
    book = HostBook(_lives(), {one.host for one in placements})
    pieces = [(one, book.stays(one.host, one.start, one.end)) for one in placements if one.host]
    unknown = _unknown_hosts(
        [(one.host, stay) for one, stays in pieces for stay in stays if stay.instance_id is None], now=now
    )
    wrong = [(one, _named(stays, unknown.get(one.host))) for one, stays in pieces]
    wrong = [(one, stays) for one, stays in wrong if len(stays) != 1 or stays[0].instance_id != one.instance_id]
    if wrong:
        _write(wrong)
        _retire_strangers()
    _point_gpus()
    make_telemetry_teams()


def _read_placements() -> Iterable[tuple[int, int, str, int | None, datetime, datetime | None]]:
    return GpuPlacement.objects.order_by("gpu_id", "start").values_list(
        "id", "gpu_id", "host", "instance_id", "start", "end"
    )


def _lives() -> list[Life]:
    """Give the lives of all instances of accounts."""
    ends = dict(InstanceState.objects.filter(state__in=ENDED, end=None).values_list("instance_id", "start"))
    rows = Instance.objects.exclude(account=None).values_list("id", "host", "launched_at")
    return [Life(pk, host, launched, ends.get(pk)) for pk, host, launched in rows]


def _unknown_hosts(needed: Sequence[tuple[str, Stay]], *, now: datetime) -> dict[str, int]:
    """Give the instances of hosts that no account knows, made where they are not there yet."""
    hosts: dict[str, datetime] = {}
    for host, stay in needed:
        hosts[host] = min(hosts.get(host, stay.start), stay.start)
    known = Instance.objects.filter(account=None, external_id__in=hosts)
    there = {row.external_id: row for row in known}
    back = [row for row in there.values() if row.state == ProviderState.GONE]
    Instance.objects.filter(pk__in=[row.pk for row in back]).update(state=ProviderState.RUNNING)
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
    """Rewrite placements as their stays: the first keeps the row, more get rows of their own. Old and new hours are marked."""
    left = {
        one.instance_id: min(o.start for o, _ in wrong if o.instance_id == one.instance_id)
        for one, _ in _first_each(wrong)
    }
    mark_from({pk: start for pk, start in left.items() if pk is not None})
    changed = [
        GpuPlacement(
            id=one.id,
            gpu_id=one.gpu_id,
            host=one.host,
            start=one.start,
            end=stays[0].end,
            instance_id=stays[0].instance_id,
        )
        for one, stays in wrong
    ]
    GpuPlacement.objects.bulk_update(changed, ["end", "instance"], batch_size=2000)
    added = GpuPlacement.objects.bulk_create(
        (
            GpuPlacement(gpu_id=one.gpu_id, host=one.host, start=stay.start, end=stay.end, instance_id=stay.instance_id)
            for one, stays in wrong
            for stay in stays[1:]
        ),
        batch_size=2000,
    )
    mark_placements([row.pk for row in [*changed, *added]])


def _first_each(wrong: Sequence[tuple[_Placement, Sequence[Stay]]]) -> list[tuple[_Placement, Sequence[Stay]]]:
    """Give one pair for each instance that placements move away from."""
    return list({pair[0].instance_id: pair for pair in wrong}.values())


def _retire_strangers() -> None:
    """Say `gone` of unknown hosts in which no GPU stands any more: an account has claimed them, or they are known no longer."""
    open_placements = GpuPlacement.objects.filter(end=None, instance__account=None).values("instance_id")
    strangers = Instance.objects.filter(account=None).exclude(state=ProviderState.GONE)
    strangers.exclude(pk__in=open_placements.exclude(instance=None)).update(state=ProviderState.GONE)


def _point_gpus() -> None:
    """Set every GPU's instance of now from its newest placement."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE fleet_gpu AS gpu SET instance_id = newest.instance_id
            FROM (
                SELECT DISTINCT ON (gpu_id) gpu_id, instance_id FROM fleet_gpuplacement ORDER BY gpu_id, start DESC
            ) AS newest
            WHERE gpu.id = newest.gpu_id AND gpu.instance_id IS DISTINCT FROM newest.instance_id
            """
        )
