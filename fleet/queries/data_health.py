"""What we see and what we don't: sources with a day of their pulls, nodes that are silent, accounts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import orjson
from django.db import connection

from fleet.queries.health import LATE_AFTER
from fleet.queries.standing import instance_path
from people.roles import TeamChoice

CELL = timedelta(minutes=30)
CELLS = 48
DAY = CELL * CELLS
MOST_NODES = 500


@dataclass(frozen=True)
class Cell:
    """Half an hour of a source. ``coverage_pct`` None: nothing was read; ``failed``: pulls that went wrong."""

    start: datetime
    coverage_pct: float | None
    failed: int


@dataclass(frozen=True)
class SourceDay:
    """A source, how its last pull went, what stands behind it, and its last day in half hours.

    ``silent``: GPUs seen within a day and not lately. ``intervals``: least, middle and longest learned, in seconds.
    """

    name: str
    kind: str
    spec: Mapping[str, Any]
    is_enabled: bool
    is_declared: bool
    collected_until: datetime | None
    pull: Mapping[str, Any]
    failing_since: datetime | None
    gpus: int
    silent: int
    targets: int
    down: int
    intervals: tuple[float | None, float | None, float | None]
    bad: Mapping[str, int]
    cells: Sequence[Cell] = field(default_factory=list)

    def lag(self, now: datetime) -> timedelta | None:
        """Give how old its newest complete answer is."""
        return now - self.collected_until if self.collected_until else None

    def is_late(self, now: datetime) -> bool:
        """Say whether that is too old to rely on."""
        lag = self.lag(now)
        return lag is not None and lag > LATE_AFTER

    @property
    def coverage_pct(self) -> float | None:
        """The mean of the half hours that were read."""
        read = [cell.coverage_pct for cell in self.cells if cell.coverage_pct is not None]
        return sum(read) / len(read) if read else None


_SOURCES = """
WITH recent AS (
    SELECT source_id, count(*) FILTER (WHERE last_seen_at >= %(late)s) AS seen,
           count(*) FILTER (WHERE last_seen_at < %(late)s AND last_seen_at >= %(day)s) AS silent
    FROM fleet_gpu GROUP BY source_id
), behind AS (
    SELECT source_id, count(*) AS targets, count(*) FILTER (WHERE is_up IS FALSE) AS down, min(interval_seconds) AS low,
           percentile_cont(0.5) WITHIN GROUP (ORDER BY interval_seconds) AS mid, max(interval_seconds) AS high
    FROM fleet_target GROUP BY source_id
), dropped AS (
    SELECT source_id, jsonb_object_agg(kind, n) AS kinds FROM (
        SELECT source_id, kind, sum(count)::bigint AS n FROM fleet_badsample WHERE day >= %(week)s GROUP BY 1, 2
    ) counted GROUP BY source_id
)
SELECT s.name, s.kind, s.spec, s.is_enabled, s.declared IS NOT NULL, s.collected_until, to_jsonb(p), (
        SELECT min(f.at) FROM fleet_sourcepull f WHERE f.source_id = s.id AND f.error_code <> '' AND f.at > coalesce((
            SELECT max(g.at) FROM fleet_sourcepull g WHERE g.source_id = s.id AND g.error_code = ''), '-infinity')),
    coalesce(r.seen, 0), coalesce(r.silent, 0), coalesce(b.targets, 0), coalesce(b.down, 0), b.low, b.mid, b.high,
    coalesce(d.kinds, '{}'), (
        SELECT jsonb_agg(jsonb_build_array(extract(epoch FROM bin), coverage, failed)) FROM (
            SELECT bin, avg(coverage_pct) FILTER (WHERE error_code = '') AS coverage,
                   count(*) FILTER (WHERE error_code <> '') AS failed
            FROM fleet_sourcepull c, generate_series(  -- a pull that caught up stands for all the time it read
                least(date_bin('30 minutes', until - interval '1 second', 'epoch'), date_bin('30 minutes',
                    CASE WHEN error_code = '' THEN greatest(since, %(day)s) + interval '15 minutes' ELSE until END,
                    'epoch')),
                date_bin('30 minutes', until - interval '1 second', 'epoch'), interval '30 minutes') AS bin
            WHERE c.source_id = s.id AND c.at >= %(day)s AND c.until >= %(day)s GROUP BY 1
        ) binned)
FROM fleet_source s
LEFT JOIN LATERAL (
    SELECT at, since, until, gpus, samples, coverage_pct, is_partial, warnings, bad_samples, seconds, error_code,
           error_message, error_hint
    FROM fleet_sourcepull WHERE source_id = s.id ORDER BY at DESC, id DESC LIMIT 1) p ON true
LEFT JOIN recent r ON r.source_id = s.id LEFT JOIN behind b ON b.source_id = s.id
LEFT JOIN dropped d ON d.source_id = s.id
WHERE %(name)s::text IS NULL OR s.name = %(name)s ORDER BY s.is_enabled DESC, s.name
"""


def source_days(now: datetime, name: str | None = None) -> list[SourceDay]:
    """Give every source, or the one of that name, as it stands at ``now``, in one question."""
    late, day = now - LATE_AFTER, now - DAY
    values = {"late": late, "day": day, "week": (now - timedelta(days=7)).date(), "name": name}
    with connection.cursor() as cursor:
        cursor.execute(_SOURCES, values)
        rows = cursor.fetchall()
    return [_source_day(row, now) for row in rows]


def _source_day(row: Sequence[Any], now: datetime) -> SourceDay:
    spec, pull, bad, binned = (_read(row[index]) for index in (2, 6, 15, 16))
    by_start = {float(start): (coverage, failed) for start, coverage, failed in binned or ()}
    last = int(now.timestamp()) // 1800
    cells = []
    for index in range(last - CELLS + 1, last + 1):
        coverage, failed = by_start.get(index * 1800.0, (None, 0))
        cells.append(Cell(datetime.fromtimestamp(index * 1800, now.tzinfo), coverage, failed))
    at = {key: datetime.fromisoformat(pull[key]) for key in ("at", "since", "until")} if pull else {}
    return SourceDay(
        row[0], row[1], spec or {}, row[3], row[4], row[5], {**(pull or {}), **at}, row[7], row[8], row[9], row[10],
        row[11], (row[12], row[13], row[14]), bad or {}, cells,
    )  # fmt: skip


def _read(value: Any) -> Any:
    return orjson.loads(value) if isinstance(value, str | bytes) else value


@dataclass(frozen=True)
class UnseenNode:
    """A machine that runs by its account's word, or stood in telemetry lately, and is not seen whole.

    ``expected`` None: nobody says how many GPUs it has. ``last_seen`` None: never.
    """

    account: str | None
    name: str
    host: str
    team_id: int | None
    source: str
    expected: int | None
    seen: int
    last_seen: datetime | None

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.name)


def unseen_nodes(choice: TeamChoice, now: datetime) -> list[UnseenNode]:
    """Give the machines of these teams that are not seen whole, the longest unseen first; at most 500."""
    condition, values = choice.condition("i.team_id")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            SELECT a.name, i.external_id, i.host, i.team_id, coalesce(max(s.name), ''),
                   coalesce(i.gpu_count, nullif(count(DISTINCT g.uuid) FILTER (WHERE g.last_seen_at >= %s), 0)),
                   count(DISTINCT g.uuid) FILTER (WHERE g.last_seen_at >= %s), max(g.last_seen_at)
            FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
            LEFT JOIN fleet_gpu g ON g.instance_id = i.id LEFT JOIN fleet_source s ON s.id = g.source_id
            WHERE i.state IN ('running', 'stopping') AND {condition}
            GROUP BY i.id, a.name
            HAVING count(DISTINCT g.uuid) FILTER (WHERE g.last_seen_at >= %s) < coalesce(
                    i.gpu_count, greatest(1, count(DISTINCT g.uuid) FILTER (WHERE g.last_seen_at >= %s)))
                AND (a.name IS NOT NULL OR max(g.last_seen_at) >= %s)
            ORDER BY max(g.last_seen_at) ASC NULLS FIRST, i.external_id LIMIT %s
            """,
            [now - DAY, now - LATE_AFTER, *values, now - LATE_AFTER, now - DAY, now - timedelta(days=7), MOST_NODES],
        )
        return [UnseenNode(*row) for row in cursor.fetchall()]


@dataclass(frozen=True)
class AccountRow:
    """A provider account; ``instances``: state -> how many."""

    name: str
    kind: str
    provider: str
    synced_at: datetime | None
    is_declared: bool
    instances: Mapping[str, int]


def account_rows() -> list[AccountRow]:
    """Give the accounts by name with their instances."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT a.name, a.kind, a.provider, a.synced_at, a.declared IS NOT NULL, coalesce("
            "(SELECT jsonb_object_agg(state, n) FROM (SELECT state, count(*) AS n FROM fleet_instance i"
            " WHERE i.account_id = a.id GROUP BY state) counted), '{}')"
            " FROM fleet_account a WHERE a.removed_at IS NULL ORDER BY a.name"
        )
        rows = cursor.fetchall()
    return [AccountRow(name, kind, provider, at, own, _read(states)) for name, kind, provider, at, own, states in rows]
