"""What prices look at: provider, SKU, model, count, region and purchase option of instances over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db import connection


@dataclass(frozen=True)
class Attributes:
    """What is known of an instance at a time; empty or None where it is not. ``gpu_count`` counts whole devices."""

    provider: str = ""
    sku: str = ""
    gpu_model: str = ""
    gpu_count: int | None = None
    region: str = ""
    purchase_option: str = ""


def price_subjects(instance_ids: Collection[int] | None) -> dict[int, list[tuple[datetime, Attributes]]]:
    """Give, per instance, its attributes from each time on, in order of time. None asks for all instances.

    Model and count that the inventory does not tell come from the GPUs that telemetry shows there.
    """
    seen = _seen_gpus(instance_ids)
    found: defaultdict[int, list[tuple[datetime, Attributes]]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT i.id, coalesce(v.valid_from, 'epoch'),"
            " coalesce(nullif(v.attributes ->> 'provider', ''), a.provider, ''),"
            " coalesce(v.attributes ->> 'sku', ''), coalesce(v.attributes ->> 'gpu_model', ''),"
            " coalesce((v.attributes ->> 'gpu_count')::numeric, i.gpu_count), coalesce(v.attributes ->> 'region', ''),"
            " coalesce(v.attributes ->> 'purchase_option', '')"
            " FROM fleet_instance i LEFT JOIN fleet_instanceversion v ON v.instance_id = i.id"
            " LEFT JOIN fleet_account a ON a.id = i.account_id"
            " WHERE %(all)s OR i.id = ANY(%(ids)s) ORDER BY i.id, v.valid_from",
            {"all": instance_ids is None, "ids": list(instance_ids or ())},
        )
        for instance, start, provider, sku, model, count, region, option in cursor.fetchall():
            seen_model, seen_count = seen.get(instance, ("", None))
            whole = seen_count if count is None else -int(-count // 1)
            found[instance].append((start, Attributes(provider, sku, model or seen_model, whole, region, option)))
    return found


def _seen_gpus(instance_ids: Collection[int] | None) -> dict[int, tuple[str, int]]:
    """Give the most frequent model and the number of devices that stand on each instance now."""
    devices: defaultdict[int, dict[str, str]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT instance_id, uuid, model FROM fleet_gpu"
            " WHERE instance_id IS NOT NULL AND (%(all)s OR instance_id = ANY(%(ids)s)) ORDER BY id",
            {"all": instance_ids is None, "ids": list(instance_ids or ())},
        )
        for instance, uuid, model in cursor.fetchall():
            devices[instance].setdefault(uuid, model)
    return {
        instance: (Counter(models.values()).most_common(1)[0][0], len(models)) for instance, models in devices.items()
    }
