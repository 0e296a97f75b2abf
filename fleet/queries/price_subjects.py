"""What prices look at: provider, SKU, model, count, region and purchase option of instances over time."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from datetime import datetime
from math import ceil

from django.db import connection

from fleet.domain.price_subject import PriceSubject


def price_subjects(instance_ids: Collection[int] | None) -> dict[int, list[tuple[datetime, PriceSubject]]]:
    """Give, per instance, its attributes from each time on, in order of time. None asks for all instances.

    Model and count that the inventory does not tell come from the GPUs that telemetry shows there.
    """
    seen = _seen_gpus(instance_ids)
    found: defaultdict[int, list[tuple[datetime, PriceSubject]]] = defaultdict(list)
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
            whole = seen_count if count is None else ceil(count)
            found[instance].append((start, PriceSubject(provider, sku, model or seen_model, whole, region, option)))
    return found


_LEFT_BEHIND = """
    SELECT p.instance_id, g.uuid, g.model FROM fleet_gpuplacement p JOIN fleet_gpu g ON g.id = p.gpu_id
    WHERE NOT EXISTS (SELECT 1 FROM fleet_gpu AS there WHERE there.instance_id = p.instance_id)
      AND p."end" > (SELECT max(q."end") FROM fleet_gpuplacement q WHERE q.instance_id = p.instance_id)
                    - interval '1 hour'
"""
"""The devices that stood last on instances where none stands now: what they cost then must not become unpriced."""


def _seen_gpus(instance_ids: Collection[int] | None) -> dict[int, tuple[str, int]]:
    """Give the most frequent model and the number of devices that stand on each instance now, or stood there last."""
    devices: defaultdict[int, dict[str, str]] = defaultdict(dict)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT instance_id, uuid, model FROM fleet_gpu"
            " WHERE instance_id IS NOT NULL AND (%(all)s OR instance_id = ANY(%(ids)s))"
            f" UNION ALL ({_LEFT_BEHIND} AND (%(all)s OR p.instance_id = ANY(%(ids)s))) ORDER BY uuid",
            {"all": instance_ids is None, "ids": list(instance_ids or ())},
        )
        for instance, uuid, model in cursor.fetchall():
            devices[instance].setdefault(uuid, model)
    return {
        instance: (Counter(models.values()).most_common(1)[0][0], len(models)) for instance, models in devices.items()
    }


def price_kinds_at(instance_ids: Collection[int], at: datetime) -> list[tuple[PriceSubject, list[int]]]:
    """Give what instances looked like at ``at``, with those that looked so; before its first version, like that one.

    GPUs are looked at only where the inventory tells no model or no count.
    """
    with connection.cursor() as cursor:
        cursor.execute(_KINDS_AT, {"ids": list(instance_ids), "at": at})
        rows = cursor.fetchall()
    return [
        (PriceSubject(provider, sku, model, None if count is None else ceil(count), region, option), ids)
        for provider, sku, model, count, region, option, ids in rows
    ]


_KINDS_AT = f"""
    WITH known AS (
        SELECT i.id, coalesce(nullif(v.attributes ->> 'provider', ''), a.provider, '') AS provider,
               coalesce(v.attributes ->> 'sku', '') AS sku, nullif(v.attributes ->> 'gpu_model', '') AS model,
               coalesce((v.attributes ->> 'gpu_count')::numeric, i.gpu_count) AS count,
               coalesce(v.attributes ->> 'region', '') AS region,
               coalesce(v.attributes ->> 'purchase_option', '') AS option
        FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
        LEFT JOIN LATERAL (
            SELECT attributes FROM fleet_instanceversion WHERE instance_id = i.id
            ORDER BY valid_from <= %(at)s DESC, CASE WHEN valid_from <= %(at)s THEN valid_from END DESC, valid_from
            LIMIT 1
        ) v ON TRUE
        WHERE i.id = ANY(%(ids)s)
    ), devices AS (
        SELECT g.instance_id, g.uuid, min(g.model) AS model
        FROM fleet_gpu g JOIN known k ON k.id = g.instance_id WHERE k.model IS NULL OR k.count IS NULL
        GROUP BY g.instance_id, g.uuid
        UNION ALL ({_LEFT_BEHIND}
          AND p.instance_id IN (SELECT id FROM known WHERE model IS NULL OR count IS NULL))
    ), models AS (
        SELECT instance_id, model, count(DISTINCT uuid) AS n, min(uuid) AS first FROM devices
        GROUP BY instance_id, model
    ), seen AS (
        SELECT instance_id, sum(n) AS n, (array_agg(model ORDER BY n DESC, first))[1] AS model
        FROM models GROUP BY instance_id
    )
    SELECT k.provider, k.sku, coalesce(k.model, s.model, ''), coalesce(k.count, s.n), k.region, k.option,
           array_agg(k.id)
    FROM known k LEFT JOIN seen s ON s.instance_id = k.id GROUP BY 1, 2, 3, 4, 5, 6
"""
