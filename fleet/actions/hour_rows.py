"""Write GPU-hours: what is equal stays untouched, what no longer applies goes, all in the caller's transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from common.partitions import make_months
from common.periods import EPOCH
from common.records import drop, stage, timestamps
from fleet.domain.gpu_hours import STOPPED, HourRows
from fleet.domain.metering import Metered, Milliseconds

TIMES = ("working_ms", "low_ms", "held_ms", "empty_ms", "unknown_ms", "stopped_ms")
VALUES = ("part_start_minute", "job_id", "team_id", "owner", "gpu_model", *TIMES)

WRITE = """
WITH removed AS (
    DELETE FROM fleet_gpuhour t USING metered_keys k
     WHERE t.hour = k.hour AND t.instance_id = k.instance_id AND NOT EXISTS (
        SELECT 1 FROM metered_rows s WHERE s.hour = t.hour AND s.instance_id = t.instance_id
           AND s.gpu_ref = t.gpu_ref AND s.share = t.share)
    RETURNING 1
), written AS (
    INSERT INTO fleet_gpuhour AS t (hour, instance_id, gpu_ref, share, {values})
    SELECT s.hour, s.instance_id, s.gpu_ref, s.share, s.part_start_minute, nullif(s.job_id, 0), nullif(s.team_id, 0),
           o.text, m.text, {times}
      FROM metered_rows s
      JOIN unnest(%(owners)s::text[]) WITH ORDINALITY o(text, number) ON o.number = s.owner
      JOIN unnest(%(models)s::text[]) WITH ORDINALITY m(text, number) ON m.number = s.gpu_model
    ON CONFLICT (hour, instance_id, gpu_ref, share) DO UPDATE SET {updates}
     WHERE ({old}) IS DISTINCT FROM ({new})
    RETURNING 1
)
SELECT (SELECT count(*) FROM written), (SELECT count(*) FROM removed)
""".format(
    values=", ".join(VALUES),
    times=", ".join(f"s.{name}" for name in TIMES),
    updates=", ".join(f"{name} = excluded.{name}" for name in VALUES),
    old=", ".join(f"t.{name}" for name in VALUES),
    new=", ".join(f"excluded.{name}" for name in VALUES),
)


def write_hours(keys: Sequence[tuple[int, int]], rows: HourRows, times: Milliseconds) -> tuple[int, int]:
    """Make the GPU-hours of ``keys`` (instance, hour in epoch ms) be ``rows`` with ``times`` [R, 6].

    Gives how many rows were written and removed.
    """
    instances, hours = np.array(keys, dtype=np.int64).T
    make_months("fleet_gpuhour", [EPOCH + timedelta(milliseconds=hour) for hour in np.unique(hours).tolist()])
    stage("metered_keys", {"instance_id": instances, "hour": timestamps(hours)}, times=("hour",))
    owners, owner = _numbered([share.owner for share in rows.share])
    models, model = _numbered(rows.model)
    columns: dict[str, NDArray[Any]] = {
        "hour": timestamps(np.array(rows.hour, dtype=np.int64)),
        "instance_id": np.array(rows.instance, dtype=np.int64),
        "gpu_ref": np.array(rows.gpu, dtype=np.int64),
        "share": np.array(rows.number, dtype=np.int16),
        "part_start_minute": np.array([share.part_start_minute for share in rows.share], dtype=np.int16),
        "job_id": np.array([share.job or 0 for share in rows.share], dtype=np.int64),
        "team_id": np.array([share.team or 0 for share in rows.share], dtype=np.int64),
        "owner": owner,
        "gpu_model": model,
    }
    order = [Metered.WORKING, Metered.LOW, Metered.HELD, Metered.EMPTY, Metered.UNKNOWN, STOPPED]
    columns |= {name: times[:, column] for name, column in zip(TIMES, order, strict=True)}
    stage("metered_rows", columns, times=("hour",))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE metered_rows, metered_keys")
        cursor.execute(WRITE, {"owners": owners, "models": models})
        written, removed = cursor.fetchone() or (0, 0)
        cursor.execute(
            "INSERT INTO fleet_remeteredhour (instance_id, hour) SELECT instance_id, hour FROM metered_keys"
            " ON CONFLICT DO NOTHING"
        )
    drop("metered_keys")
    drop("metered_rows")
    return int(written), int(removed)


def _numbered(texts: Sequence[str]) -> tuple[list[str], Milliseconds]:
    """Give the different texts and, for each, its number among them, counted from 1."""
    numbers: dict[str, int] = {}
    column = np.array([numbers.setdefault(text, len(numbers) + 1) for text in texts], dtype=np.int64)
    return list(numbers), column
