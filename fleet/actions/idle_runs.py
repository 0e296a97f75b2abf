"""Keep the idle runs that metering reads, by the organisation's rule, as samples come in and when old ones change."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from django.db import connection, transaction
from django.db.models import Q
from numpy.typing import NDArray

from common.periods import BEGINNING, STEP, floor_mark
from fleet.actions.clocks import (
    LAG_MARKS,
    Clocks,
    checksum,
    checksum_of,
    forget,
    has_same_start,
    read_clocks,
    write_clocks,
)
from fleet.actions.power import with_baselines
from fleet.domain.carry import Carry, beginning
from fleet.domain.idle_rule import IdleRule
from fleet.domain.samples import STEP_SECONDS, SampleBlock
from fleet.models import GpuClock, IdleRun
from fleet.queries.fleet_at import FleetAt, fleet_at, moment
from fleet.queries.folding import Piece, Rows, fold, settle
from fleet.queries.idle_runs import RunBook, gpu_runs, rule_spans

START_MOVED_SECONDS = 7 * 86_400
"""When a start becomes known late, so much of the past is read again at most."""

Watch = Callable[[Piece], None]
Range = tuple[int, int, int]  # GPU id, from, to in epoch seconds


@dataclass(frozen=True)
class Restart:
    """Where folds of some GPUs begin: ``at``, from ``carry`` (None: found from samples)."""

    rows: Rows
    at: int
    carry: Carry | None = None


@transaction.atomic
def update_idle_runs(*, until: datetime, gpu_ids: Collection[int] | None = None, since: datetime | None = None) -> int:
    """Fold the organisation's rule up to ``until`` and write the runs; give how many changed.

    Without ``since`` each GPU goes on from where its clock stands. With it (samples changed after it) the GPUs of
    ``gpu_ids`` (None: all) are read again from there, up to where passes have come when that is later than ``until``.
    Hours whose metering changes are marked.
    """
    at = max(floor_mark(until), _judged_until()) if since else floor_mark(until)
    fleet = with_baselines(fleet_at(at, gpu_ids or ()))
    rows = np.arange(len(fleet.gpus), dtype=np.int64)
    if gpu_ids is not None:
        wanted = set(gpu_ids)
        rows = np.array([row for row, gpu in enumerate(fleet.gpus) if gpu.id in wanted], dtype=np.int64)
    if since is not None:
        forget(fleet.ids(rows))
    return keep_runs(fleet, rows, since=int(floor_mark(since).timestamp()) if since else None)


def _judged_until() -> datetime:
    """The mark that the passes so far have come to: clocks stay behind it."""
    newest = max(GpuClock.objects.filter(lane="").values_list("mark", flat=True), default=BEGINNING)
    return newest + LAG_MARKS * STEP if newest > BEGINNING else BEGINNING


def keep_runs(fleet: FleetAt, rows: Rows, *, since: int | None = None, watch: Watch = lambda _: None) -> int:
    """Bring the runs of some GPUs up to the fleet's mark; ``watch`` is shown the pieces under the rule of now."""
    spans = rule_spans(fleet)
    clocks = read_clocks(spans[-1].rule)
    lag_mark = fleet.mark - LAG_MARKS * STEP_SECONDS

    def on_piece(piece: Piece) -> None:
        watch(piece)
        if piece.track.carry.mark == lag_mark:
            written.append((piece.rows, piece.track.carry, checksum_of(piece, spans[-1].rule)))

    restarts = _restarts(fleet, rows, clocks, since)
    written: list[tuple[Rows, Carry, NDArray[np.int64]]] = []
    books: list[RunBook] = []
    fresh_from: dict[int, int] = {}
    while restarts:
        restart = restarts.pop()
        late: list[int] = []
        books += _follow(fleet, restart, clocks, late, on_piece)
        fresh_from.update({int(row): restart.at for row in restart.rows if int(row) not in set(late)})
        restarts += _again(fleet, np.array(late, dtype=np.int64), restart, spans[-1].rule)
    _write_clocks(fleet, spans[-1].rule, clocks, written)
    return _write_runs(fleet, books, fresh_from)


def _restarts(fleet: FleetAt, rows: Rows, clocks: Clocks, since: int | None) -> list[Restart]:
    """Where to begin: at ``since``; else at the clock, as far as it can be used; else with the GPU's first sample."""
    first = fleet.first_marks(rows) - STEP_SECONDS
    if since is not None:
        return _by_time(rows, np.maximum(first, min(since, fleet.mark - LAG_MARKS * STEP_SECONDS)))
    place = clocks.find(np.array(fleet.ids(rows), dtype=np.int64))
    usable = (place >= 0) & (clocks.mark < fleet.mark)
    carry = Carry(clocks.mark, clocks.rows[place[usable]])
    found = [Restart(rows[usable], clocks.mark, carry)] if usable.any() else []
    rest = (place < 0) & (first < fleet.mark)
    return found + _by_time(rows[rest], first[rest])


def _by_time(rows: Rows, begins: NDArray[np.int64]) -> list[Restart]:
    """Group GPUs that begin within the same day, so that few folds are made and none reads much for nothing."""
    days = begins // 86_400
    return [Restart(rows[days == day], int(begins[days == day].min())) for day in np.unique(days)]


def _again(fleet: FleetAt, rows: Rows, restart: Restart, rule: IdleRule) -> list[Restart]:
    """Where to begin again with GPUs whose samples or start changed behind the clock."""
    if not len(rows) or restart.carry is None:
        return []
    place = {int(row): i for i, row in enumerate(restart.rows)}
    carry = restart.carry.select(np.array([place[int(row)] for row in rows]))
    seen = np.where(np.isfinite(carry.rows["seen_mark"]), carry.rows["seen_mark"], restart.at)
    moved = ~has_same_start(fleet, rows, carry)
    begins = np.minimum(seen, restart.at - rule.reach_seconds)
    begins = np.where(moved, np.minimum(begins, restart.at - START_MOVED_SECONDS), begins).astype(np.int64)
    return _by_time(rows, np.maximum(begins, fleet.first_marks(rows) - STEP_SECONDS))


def _follow(fleet: FleetAt, restart: Restart, clocks: Clocks, late: list[int], on_piece: Watch) -> Iterable[RunBook]:
    """Fold some GPUs through every version of the rule since the restart; ``late`` gets those left out.

    ``on_piece`` is shown the pieces under the rule of now.
    """
    lag_mark = fleet.mark - LAG_MARKS * STEP_SECONDS
    spans = rule_spans(fleet)
    for span in spans:
        end = fleet.mark if span.end is None else min(span.end, fleet.mark)
        at = max(restart.at, span.start)
        if at >= end:
            continue
        is_now = end == fleet.mark and span is spans[-1]
        rows, carry = restart.rows, restart.carry
        check = _checker(fleet, restart, clocks, span.rule, late) if carry is not None and at == carry.mark else None
        if carry is None or check is None:
            carry, check = _carry_at(fleet, rows, span.rule, at), None
        book = RunBook(opens=span.start)
        for piece in fold(fleet, (rows, carry), span.rule, end, stop=lag_mark, is_current=check):
            book.add(piece)
            if is_now:
                on_piece(piece)
        if span.end is not None and end == span.end:
            book.close(end)
        yield book


def _carry_at(fleet: FleetAt, rows: Rows, rule: IdleRule, at: int) -> Carry:
    """Where the fold stands at ``at``; before the first sample of all of them there is nothing to read."""
    if (fleet.first_marks(rows) > at).all():
        return beginning(len(rows), at)
    return settle(fleet, rows, rule, at)


def _checker(
    fleet: FleetAt, restart: Restart, clocks: Clocks, rule: IdleRule, late: list[int]
) -> Callable[[Rows, SampleBlock], NDArray[np.bool_]]:
    """Tell which GPUs' clocks still fit: the same start, and the same samples in the rule's reach before it."""
    ids = np.array(fleet.ids(restart.rows), dtype=np.int64)
    expected = dict(zip(restart.rows.tolist(), clocks.checksum[clocks.find(ids)].tolist(), strict=True))
    assert restart.carry is not None
    has_same = has_same_start(fleet, restart.rows, restart.carry)
    same_start = dict(zip(restart.rows.tolist(), has_same.tolist(), strict=True))

    def is_current(rows: Rows, block: SampleBlock) -> NDArray[np.bool_]:
        sums = checksum(block, restart.at, rule)
        kept = np.array([same_start[row] for row in rows.tolist()], dtype=np.bool_)
        kept &= sums == np.array([expected[row] for row in rows.tolist()], dtype=np.int64)
        late.extend(rows[~kept].tolist())
        return kept

    return is_current


def _write_clocks(
    fleet: FleetAt,
    rule: IdleRule,
    clocks: Clocks,
    written: list[tuple[Rows, Carry, NDArray[np.int64]]],
) -> None:
    """Write the clocks of all GPUs at once; those that this pass did not fold are kept only at the same mark."""
    if not written:
        return
    done = set(np.concatenate([some for some, _, _ in written]).tolist())
    mark = written[0][1].mark
    others = np.array([row for row in range(len(fleet.gpus)) if row not in done], dtype=np.int64)
    if len(others) and clocks.mark == mark:
        place = clocks.find(np.array(fleet.ids(others), dtype=np.int64))
        kept = place[place >= 0]
        written = [*written, (others[place >= 0], Carry(mark, clocks.rows[kept]), clocks.checksum[kept])]
    write_clocks(fleet, rule, written)


def _write_runs(fleet: FleetAt, books: list[RunBook], fresh_from: dict[int, int]) -> int:
    """Make the table say what the folds say, for what lies after each GPU's restart; mark the hours that change."""
    wanted = gpu_runs(fleet, books)
    begin = {fleet.gpus[row].id: at for row, at in fresh_from.items()}
    if not begin:
        return 0
    known = _known_runs(begin)
    new = {(gpu, since): until for gpu, since, until in wanted}
    gone = [key for key in known if key not in new]
    changed = {key: until for key, until in new.items() if key not in known or known[key] != until}
    if not gone and not changed:
        return 0
    ranges: list[Range] = [(gpu, since, known[gpu, since] or fleet.mark) for gpu, since in gone]
    for (gpu, since), until in changed.items():
        ends = sorted((known.get((gpu, since), since) or fleet.mark, until or fleet.mark))
        ranges.append((gpu, ends[0], ends[1]))
    _save(gone, changed)
    _mark_hours(ranges)
    return len(gone) + len(changed)


def _known_runs(begin: dict[int, int]) -> dict[tuple[int, int], int | None]:
    """The stored runs that reach beyond each GPU's beginning: (gpu, since) -> until."""
    known: dict[tuple[int, int], int | None] = {}
    rows = IdleRun.objects.filter(Q(until=None) | Q(until__gt=moment(min(begin.values()))))
    for gpu, since, until in rows.values_list("gpu_id", "since", "until"):
        end = None if until is None else int(until.timestamp())
        if gpu in begin and (end is None or end > begin[gpu]):
            known[gpu, int(since.timestamp())] = end
    return known


def _save(gone: list[tuple[int, int]], changed: dict[tuple[int, int], int | None]) -> None:
    with connection.cursor() as cursor:
        if gone:
            cursor.execute(
                "DELETE FROM fleet_idlerun AS run USING unnest(%s::bigint[], %s::float8[]) AS gone (gpu_id, since)"
                " WHERE run.gpu_id = gone.gpu_id AND run.since = to_timestamp(gone.since)",
                [[gpu for gpu, _ in gone], [float(since) for _, since in gone]],
            )
        if changed:
            cursor.execute(
                "INSERT INTO fleet_idlerun (gpu_id, since, until)"
                " SELECT gpu_id, to_timestamp(since), to_timestamp(until)"
                " FROM unnest(%s::bigint[], %s::float8[], %s::float8[]) AS new (gpu_id, since, until)"
                " ON CONFLICT (gpu_id, since) DO UPDATE SET until = excluded.until",
                [
                    [gpu for gpu, _ in changed],
                    [float(since) for _, since in changed],
                    [None if until is None else float(until) for until in changed.values()],
                ],
            )


def _mark_hours(ranges: list[Range]) -> None:
    """Mark the hours of (GPU, from, to] at the instances where the GPUs stood."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            INSERT INTO fleet_changedhour (instance_id, hour)
            SELECT DISTINCT placement.instance_id, hour
            FROM unnest(%s::bigint[], %s::float8[], %s::float8[]) AS changed (gpu_id, since, until)
            CROSS JOIN LATERAL generate_series(
                date_trunc('hour', to_timestamp(changed.since), 'UTC'), to_timestamp(changed.until - 1), '1 hour'
            ) AS hour
            JOIN fleet_gpuplacement placement ON placement.gpu_id = changed.gpu_id
            WHERE placement.instance_id IS NOT NULL
              AND placement.start < hour + interval '1 hour' AND (placement."end" IS NULL OR placement."end" > hour)
            ON CONFLICT (instance_id, hour) DO NOTHING
            """,
            [[gpu for gpu, _, _ in ranges], [float(a) for _, a, _ in ranges], [float(b) for _, _, b in ranges]],
        )
