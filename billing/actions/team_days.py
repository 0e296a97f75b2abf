"""Team-days: what the hours of a local day sum to, made anew for the days that changed."""

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
ROLLUP = """
WITH gpu AS (
    SELECT h.team_id, i.account_id, h.gpu_model, c.currency, {amounts}, sum(c.stopped) AS stopped,
           sum(CASE WHEN c.is_list_price THEN c.working + c.low + c.held + c.empty + c.unknown + c.stopped END) AS
           list, {times}, sum(c.unpriced_ms) AS unpriced_ms
      FROM fleet_gpuhour h
      JOIN billing_gpuhourcost c USING (hour, instance_id, gpu_ref, share)
      JOIN fleet_instance i ON i.id = h.instance_id
     WHERE h.hour > %(start)s - interval '1 hour' AND h.hour < %(end)s
       AND c.hour > %(start)s - interval '1 hour' AND c.hour < %(end)s
       AND h.hour + h.part_start_minute * interval '1 minute' >= %(start)s
       AND h.hour + h.part_start_minute * interval '1 minute' < %(end)s
     GROUP BY 1, 2, 3, 4
), side AS (
    SELECT s.team_id, i.account_id, s.currency, {kinds},
           coalesce(sum(s.amount) FILTER (WHERE s.kind = 'compute'), 0) AS compute,
           count(*) FILTER (WHERE s.amount IS NULL) AS bare
      FROM billing_instancehourcost s JOIN fleet_instance i ON i.id = s.instance_id
     WHERE s.hour > %(start)s - interval '1 hour' AND s.hour < %(end)s
       AND s.hour + s.part_start_minute * interval '1 minute' >= %(start)s
       AND s.hour + s.part_start_minute * interval '1 minute' < %(end)s
     GROUP BY 1, 2, 3
), cells AS (
    SELECT team_id, account_id, gpu_model, currency, {gpu_columns}, stopped, list, {time_columns}, unpriced_ms,
           0 AS bare, 0 AS storage, 0 AS network, 0 AS other FROM gpu
    UNION ALL
    SELECT team_id, account_id, '', currency, 0, 0, 0, 0, compute, 0, 0, 0, 0, 0, 0, 0, 0, bare,
           storage, network, other FROM side
)
INSERT INTO billing_teamday (day, team_id, account_id, gpu_model, currency, {compute_columns}, compute_stopped,
    list_price_amount, {time_columns}, unpriced_ms, unpriced_disk_hours, storage, network, other)
SELECT %(day)s, team_id, account_id, gpu_model, currency, {cell_sums}
  FROM cells GROUP BY 2, 3, 4, 5
""".format(
    amounts=", ".join(f"sum(c.{state}) AS {state}" for state in STATES),
    times=", ".join(f"sum(h.{state}_ms) FILTER (WHERE c.counts_time) AS {state}_ms" for state in STATES),
    kinds=", ".join(f"coalesce(sum(s.amount) FILTER (WHERE s.kind = '{kind}'), 0) AS {kind}" for kind in KINDS),
    gpu_columns=", ".join(STATES),
    compute_columns=", ".join(f"compute_{state}" for state in STATES),
    time_columns=", ".join(f"{state}_ms" for state in STATES),
    cell_sums=", ".join(
        f"coalesce(sum({name}), 0)"
        for name in (*STATES, "stopped", "list", *(f"{state}_ms" for state in STATES), "unpriced_ms", "bare", *KINDS)
    ),
)


def mark_days(hours: Sequence[datetime]) -> None:
    """Mark the local days that hold a part of ``hours`` as stale."""
    zone = organization_zone()
    hour = timedelta(hours=1)
    days = {local_day(at, zone) for start in hours for at in (start, start + hour - timedelta(microseconds=1))}
    StaleDay.objects.bulk_create([StaleDay(day=day) for day in sorted(days)], ignore_conflicts=True)


def refresh_team_days() -> int:
    """Make the team-days of all stale days anew, each in its own transaction; give how many."""
    count = 0
    while _refresh_one():
        count += 1
    return count


@transaction.atomic
def _refresh_one() -> bool:
    """Make the oldest stale day anew; False when there is none."""
    with connection.cursor() as cursor:
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
        cursor.execute("DELETE FROM billing_teamday WHERE day = %s", [day])
        join_in_bulk()
        cursor.execute(ROLLUP, bounds)
    return True
