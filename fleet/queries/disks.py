"""Disks of instances: they cost while they exist, whether the instance runs or not."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from common.periods import BEGINNING, parse_moment
from fleet.models import InstanceVersion
from fleet.queries.presence import Presence


@dataclass(frozen=True)
class Disk:
    """A disk in [start, end); ``price_per_gb_month`` None: to be looked up by ``sku``; ``currency`` '': the instance's.

    ``begun_at`` is when the disk itself began: its cost is counted from there, whatever cuts [start, end).
    """

    size_gb: Decimal
    price_per_gb_month: Decimal | None
    currency: str
    sku: str
    begun_at: datetime
    start: datetime
    end: datetime


def disks_of(
    presences: Mapping[int, Sequence[Presence]], *, until: datetime, instance_ids: Collection[int] | None = None
) -> dict[int, list[Disk]]:
    """Give the disks of each instance up to ``until``. ``presences`` must be whole, not cut to a window.

    A disk goes from its `from` (else the instance's start) to its `to`, else to the end of the instance.
    """
    found: defaultdict[int, list[Disk]] = defaultdict(list)
    for instance, versions in _versions(instance_ids).items():
        runs = presences.get(instance, ())
        for index, (start, attributes) in enumerate(versions):
            next_start = versions[index + 1][0] if index + 1 < len(versions) else until
            for spec in _specs(attributes):
                disk = _disk(spec, runs, start, min(next_start, until))
                if disk is not None:
                    found[instance].append(disk)
    return found


def _versions(instance_ids: Collection[int] | None) -> dict[int, list[tuple[datetime, Mapping[str, Any]]]]:
    """Give the versions of all instances that ever had a disk."""
    rows = InstanceVersion.objects.order_by("instance_id", "valid_from")
    if instance_ids is not None:
        rows = rows.filter(instance_id__in=instance_ids)
    with_disks = InstanceVersion.objects.filter(attributes__has_any_keys=["disks", "disk_gb"])
    rows = rows.filter(instance_id__in=with_disks.values("instance_id"))
    found: defaultdict[int, list[tuple[datetime, Mapping[str, Any]]]] = defaultdict(list)
    for instance, start, attributes in rows.values_list("instance_id", "valid_from", "attributes"):
        found[instance].append((start, attributes))
    return found


def _specs(attributes: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    """Give the disks of a version: listed one by one, or as one size."""
    listed = attributes.get("disks")
    if listed:
        return list(listed)
    size = attributes.get("disk_gb")
    return [{"size_gb": size}] if size else []


def _disk(spec: Mapping[str, Any], runs: Sequence[Presence], since: datetime, until: datetime) -> Disk | None:
    """Give what of a disk lies in [since, until), the time of its version; None when nothing does."""
    try:
        size, price = Decimal(str(spec["size_gb"])), spec.get("price_per_gb_month")
        price = None if price is None else Decimal(str(price))
    except (InvalidOperation, KeyError):
        return None
    begun_at = parse_moment(spec["from"]) if spec.get("from") else (runs[0].start if runs else None)
    if begun_at is None or begun_at <= BEGINNING:
        return None
    ended_at = parse_moment(spec["to"]) if spec.get("to") else (runs[-1].end if runs else until)
    start, end = max(begun_at, since), min(ended_at, until)
    if start >= end:
        return None
    return Disk(size, price, spec.get("currency") or "", spec.get("sku") or "", begun_at, start, end)
