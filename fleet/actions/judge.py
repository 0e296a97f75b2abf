"""Judge the whole fleet: go on from the clocks, write what changed, open and close findings and their alerts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import numpy as np
from django.db import transaction

from common.database import take_lock
from common.periods import floor_mark
from fleet.actions.clocks import (
    BEHIND,
    LAG_MARKS,
    checksum,
    checksum_of,
    clock_mark,
    has_same_start,
    read_clocks,
    rule_key,
    write_clocks,
)
from fleet.actions.findings_pass import sync_all
from fleet.actions.idle_runs import keep_runs
from fleet.actions.power import with_baselines
from fleet.actions.verdict_rows import Key, More, Said, write_verdicts
from fleet.actions.waiting import keep_waiting
from fleet.domain.carry import Carry
from fleet.domain.idle_rule import IdleRule
from fleet.domain.ports import PriceLookup
from fleet.domain.samples import STEP_SECONDS, SampleBlock
from fleet.domain.states import IDLE, Reason, State
from fleet.domain.units import NOT_RUNNING
from fleet.models import GpuClock
from fleet.queries.evidence import gpu_evidence, unit_evidence
from fleet.queries.findings_now import Scene
from fleet.queries.fleet_at import FleetAt, fleet_at
from fleet.queries.folding import Piece, Rows, fold, settle
from fleet.queries.idle_runs import rule_spans
from fleet.queries.judging import Judged, blank, fill, judge_jobs, judge_machines

OLDEST_CLOCK_SECONDS = 6 * 3600  # from further back than this, samples are quicker read anew
FORGET_RULES_AFTER = timedelta(days=1)
FORGET_RULES_WITHIN = 10  # first minutes of an hour: passes come at most ten minutes apart


@dataclass(frozen=True)
class JudgeResult:
    """What a pass did: verdict rows begun, findings opened and closed."""

    gpus: int
    changed: int
    opened: int
    closed: int


@transaction.atomic
def judge_fleet(*, now: datetime, prices: PriceLookup) -> JudgeResult:
    """Judge every GPU, instance and job at the last mark up to ``now``; keep the organisation's idle runs.

    One pass at a time: a tick beside beat waits, and finds what the other has written.
    """
    take_lock("judge")
    fleet = with_baselines(fleet_at(floor_mark(now)))
    judged = blank(fleet)

    kept_rule = rule_spans(fleet)[-1].rule  # that of the idle runs; another one from a change at this very mark on

    def watch(piece: Piece) -> None:
        fill(judged, fleet, kept_rule, piece)

    is_behind = clock_mark(kept_rule) >= fleet.mark  # a replay of what was back-filled: its runs are known
    if not is_behind:
        keep_runs(fleet, np.arange(len(fleet.gpus), dtype=np.int64), watch=watch)
    groups = fleet.rule_groups
    for rule, rows in groups.items():
        if rule != kept_rule or is_behind:
            lane = BEHIND if rule == kept_rule else ""
            _judge_by_policy(fleet, rule, np.array(rows, dtype=np.int64), judged, lane=lane)
    if fleet.at.minute < FORGET_RULES_WITHIN:
        kept = [rule_key(rule) for rule in (*groups, kept_rule)]
        GpuClock.objects.exclude(rule_key__in=kept).filter(mark__lt=fleet.at - FORGET_RULES_AFTER).delete()
    scene = Scene(fleet, judged, judge_machines(fleet, judged), judge_jobs(fleet, judged))
    changed = _write(scene)
    synced = sync_all(scene, prices)
    keep_waiting(scene)
    return JudgeResult(len(fleet.gpus), changed, synced.opened, synced.closed)


def _judge_by_policy(fleet: FleetAt, rule: IdleRule, rows: Rows, judged: Judged, *, lane: str) -> None:
    """Judge GPUs by a rule that no idle runs are kept of, or not now."""
    lag_mark = fleet.mark - LAG_MARKS * STEP_SECONDS
    clocks = read_clocks(rule, lane)
    place = clocks.find(np.array(fleet.ids(rows), dtype=np.int64))
    usable = (place >= 0) & (fleet.mark - OLDEST_CLOCK_SECONDS <= clocks.mark) & (clocks.mark <= lag_mark)
    carry = Carry(clocks.mark, clocks.rows[place[usable]])
    usable[usable] &= has_same_start(fleet, rows[usable], carry)
    expected = dict(zip(rows[usable].tolist(), clocks.checksum[place[usable]].tolist(), strict=True))
    late: list[int] = rows[~usable].tolist()

    def is_current(some: Rows, block: SampleBlock) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        kept = checksum(block, clocks.mark, rule) == np.array([expected[row] for row in some.tolist()], dtype=np.int64)
        late.extend(some[~kept].tolist())
        return np.asarray(kept)

    written = []
    start = (rows[usable], Carry(clocks.mark, clocks.rows[place[usable]]))
    for piece in fold(fleet, start, rule, fleet.mark, stop=lag_mark, is_current=is_current) if usable.any() else ():
        fill(judged, fleet, rule, piece)
        if piece.track.carry.mark == lag_mark:
            written.append((piece.rows, piece.track.carry, checksum_of(piece, rule)))
    if clocks.mark == lag_mark:
        kept = np.array([row for row in rows[usable].tolist() if row not in set(late)], dtype=np.int64)
        at = clocks.find(np.array(fleet.ids(kept), dtype=np.int64))
        written.append((kept, Carry(lag_mark, clocks.rows[at]), clocks.checksum[at]))
    if late:
        again = np.array(late, dtype=np.int64)
        settled = settle(fleet, again, rule, lag_mark)
        for piece in fold(fleet, (again, settled), rule, fleet.mark):
            fill(judged, fleet, rule, piece)
            if piece.before.mark == lag_mark:
                written.append((piece.rows, piece.before, checksum(piece.block, lag_mark, rule)))
    write_clocks(fleet, rule, written, lane)


def _write(scene: Scene) -> int:
    """Write the verdicts of GPUs, instances and jobs that changed."""
    fleet, judged = scene.fleet, scene.judged
    said: dict[Key, Said] = {}
    row_of: dict[int, int] = {}
    for row, gpu in enumerate(fleet.gpus):
        machine = fleet.machines.get(gpu.instance_id)
        one = judged.verdict(fleet, row)
        state, reason = one.state, one.reason
        if machine is not None and machine.at.state in NOT_RUNNING:
            state, reason = State.STOPPED, Reason.NOT_RUNNING
        since = one.since if state in IDLE else None
        policy = machine.policy if machine else None
        said["gpu", gpu.id] = Said(
            str(state), str(reason), since, (policy.policy or "") if policy else "", policy.version if policy else None
        )
        row_of[gpu.id] = row
    for kind, units in (("instance", scene.machines), ("job", scene.jobs)):
        for pk, unit in units.items():
            instance = pk if kind == "instance" else fleet.gpus[unit.rows[0]].instance_id
            machine = fleet.machines.get(instance)
            policy = machine.policy if machine else None
            verdict = unit.verdict
            said[kind, pk] = Said(
                str(verdict.state), str(verdict.reason), verdict.since, (policy.policy or "") if policy else "",
                policy.version if policy else None,
            )  # fmt: skip

    def more(key: Key) -> More:
        kind, pk = key
        if kind == "gpu":
            row = row_of[pk]
            return More(judged.confidence_name(row) or "", gpu_evidence(fleet, judged, row))
        unit = scene.machines[pk] if kind == "instance" else scene.jobs[pk]
        return More(unit.confidence or "", unit_evidence(judged, unit))

    return write_verdicts(said, more, at=fleet.at)
