"""Machine-days and team-days: what the hours of a local day sum to, made anew for the days that changed.

Months of machines and totals of jobs follow by the difference: what the day was is taken off, what it is now put on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import connection, transaction

from billing.models import StaleDay
from common.database import join_in_bulk
from common.periods import day_start, local_day
from people.queries import organization_zone

STATES = ("working", "low", "held", "empty", "unknown")
KINDS = ("storage", "network", "other")
TIMES = (*(f"{state}_ms" for state in STATES), "unpriced_ms")
COMPUTE = (*STATES, "stopped")
SUMMED = (*COMPUTE, "list_price_amount", *TIMES, "unpriced_disk_hours", *KINDS)
OF_HOURS = """
WITH gpu AS (
    SELECT h.instance_id, h.job_id, h.team_id, h.gpu_model, c.currency, {amounts},
           sum(CASE WHEN c.is_list_price THEN c.working + c.low + c.held + c.empty + c.unknown + c.stopped END) AS
           list_price_amount, {times}, sum(c.unpriced_ms) AS unpriced_ms
      FROM fleet_gpuhour h
      JOIN billing_gpuhourcost c USING (hour, instance_id, gpu_ref, share)
     WHERE h.hour > %(start)s - interval '1 hour' AND h.hour < %(end)s
       AND c.hour > %(start)s - interval '1 hour' AND c.hour < %(end)s
       AND h.hour + h.part_start_minute * interval '1 minute' >= %(start)s
       AND h.hour + h.part_start_minute * interval '1 minute' < %(end)s
     GROUP BY 1, 2, 3, 4, 5
), side AS (
    SELECT s.instance_id, s.team_id, s.currency, {kinds}, sum(s.amount) FILTER (WHERE s.kind = 'compute') AS compute,
           count(*) FILTER (WHERE s.amount IS NULL) AS bare
      FROM billing_instancehourcost s
     WHERE s.hour > %(start)s - interval '1 hour' AND s.hour < %(end)s
       AND s.hour + s.part_start_minute * interval '1 minute' >= %(start)s
       AND s.hour + s.part_start_minute * interval '1 minute' < %(end)s
     GROUP BY 1, 2, 3
), cells AS (
    SELECT instance_id, job_id, team_id, gpu_model, currency, {compute}, list_price_amount, {time_columns},
           0 AS unpriced_disk_hours, 0 AS storage, 0 AS network, 0 AS other FROM gpu
    UNION ALL
    SELECT instance_id, NULL, team_id, '', currency, 0, 0, 0, 0, compute, 0, 0, 0, 0, 0, 0, 0, 0, bare,
           storage, network, other FROM side
)
INSERT INTO billing_machineday (day, instance_id, job_id, team_id, gpu_model, currency, {summed})
SELECT %(day)s, instance_id, job_id, team_id, gpu_model, currency, {cell_sums}
  FROM cells GROUP BY 2, 3, 4, 5, 6
""".format(
    amounts=", ".join(f"sum(c.{state}) AS {state}" for state in COMPUTE),
    times=", ".join(f"sum(h.{state}_ms) FILTER (WHERE c.counts_time) AS {state}_ms" for state in STATES),
    kinds=", ".join(f"sum(s.amount) FILTER (WHERE s.kind = '{kind}') AS {kind}" for kind in KINDS),
    compute=", ".join(COMPUTE),
    time_columns=", ".join(TIMES),
    summed=", ".join(SUMMED),
    cell_sums=", ".join(f"coalesce(sum({name}), 0)" for name in SUMMED),
)
OF_MACHINES = """
INSERT INTO billing_teamday (day, team_id, account_id, gpu_model, currency, {columns})
SELECT m.day, m.team_id, i.account_id, m.gpu_model, m.currency, {sums}
  FROM billing_machineday m JOIN fleet_instance i ON i.id = m.instance_id
 WHERE m.day = %(day)s GROUP BY 1, 2, 3, 4, 5
""".format(
    columns=", ".join(f"compute_{name}" if name in COMPUTE else name for name in SUMMED),
    sums=", ".join(f"sum(m.{name})" for name in SUMMED),
)

_COST = "working + low + held + empty + unknown + stopped + storage + network + other"
MONTHS = f"""
INSERT INTO billing_machinemonth AS whole (month, instance_id, team_id, currency, cost, unpriced_ms,
    unpriced_disk_hours)
SELECT date_trunc('month', day)::date, instance_id, team_id, currency, %(sign)s * sum({_COST}),
       %(sign)s * sum(unpriced_ms), %(sign)s * sum(unpriced_disk_hours)
  FROM billing_machineday WHERE day = %(day)s GROUP BY 1, 2, 3, 4
ON CONFLICT (month, instance_id, team_id, currency) DO UPDATE SET cost = whole.cost + excluded.cost,
    unpriced_ms = whole.unpriced_ms + excluded.unpriced_ms,
    unpriced_disk_hours = whole.unpriced_disk_hours + excluded.unpriced_disk_hours
"""
JOBS = """
INSERT INTO billing_jobtotal AS whole (job_id, team_id, currency, cost, {times})
SELECT job_id, team_id, currency, %(sign)s * sum({cost}), {sums}
  FROM billing_machineday WHERE day = %(day)s AND job_id IS NOT NULL GROUP BY 1, 2, 3
ON CONFLICT (job_id, team_id, currency) DO UPDATE SET cost = whole.cost + excluded.cost, {grown}
""".format(
    cost=_COST,
    times=", ".join(TIMES),
    sums=", ".join(f"%(sign)s * sum({name})" for name in TIMES),
    grown=", ".join(f"{name} = whole.{name} + excluded.{name}" for name in TIMES),
)
_NOTHING = " AND ".join(f"{name} = 0" for name in ("cost", *TIMES))
# What a day was taken off and never put on again leaves nothing behind.
EMPTIED = (
    """DELETE FROM billing_machinemonth WHERE month = date_trunc('month', %(day)s::date)::date
        AND cost = 0 AND unpriced_ms = 0 AND unpriced_disk_hours = 0""",
    f"DELETE FROM billing_jobtotal WHERE job_id = ANY(%(jobs)s) AND {_NOTHING}",
)
LOCK = "billing.team_days"


def mark_days(hours: Sequence[datetime]) -> None:
    """Mark the local days that hold a part of ``hours`` as stale."""
    zone = organization_zone()
    hour = timedelta(hours=1)
    days = {local_day(at, zone) for start in hours for at in (start, start + hour - timedelta(microseconds=1))}
    StaleDay.objects.bulk_create([StaleDay(day=day) for day in sorted(days)], ignore_conflicts=True)


def refresh_team_days() -> int:
    """Make machine-days and team-days of all stale days anew, each in its own transaction; give how many."""
    count = 0
    while _refresh_one():
        count += 1
    return count


@transaction.atomic
def _refresh_one() -> bool:
    """Make the oldest stale day anew; False when there is none."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [LOCK])  # two would both take off a day
        # The mark goes first: who marks the day meanwhile waits for this row, and so marks it again.
        cursor.execute(
            "DELETE FROM billing_staleday WHERE id = (SELECT id FROM billing_staleday ORDER BY day LIMIT 1"
            " FOR UPDATE SKIP LOCKED) RETURNING day"
        )
        stale = cursor.fetchone()
    if stale is None:
        return False
    day, zone = stale[0], organization_zone()
    bounds = {"day": day, "start": day_start(day, zone), "end": day_start(day + timedelta(days=1), zone)}
    with connection.cursor() as cursor:
        cursor.execute("SELECT array_agg(DISTINCT job_id) FROM billing_machineday WHERE day = %s", [day])
        bounds["jobs"] = (cursor.fetchone() or (None,))[0] or []
        for rollup in (MONTHS, JOBS):
            cursor.execute(rollup, bounds | {"sign": -1})
        cursor.execute("DELETE FROM billing_machineday WHERE day = %s", [day])
        cursor.execute("DELETE FROM billing_teamday WHERE day = %s", [day])
        join_in_bulk()
        for rollup in (OF_HOURS, OF_MACHINES, MONTHS, JOBS, *EMPTIED):
            cursor.execute(rollup, bounds | {"sign": 1})
    return True
