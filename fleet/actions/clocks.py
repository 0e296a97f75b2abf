"""Where folds stand, kept between passes: read, checked against what is known now, written as blocks."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from common.database import upsert_rows
from fleet.domain.carry import DTYPE, Carry
from fleet.domain.idle_rule import IdleRule
from fleet.domain.samples import SampleBlock
from fleet.models import GpuClock
from fleet.queries.fleet_at import FleetAt, moment
from fleet.queries.folding import Piece, Rows

LAG_MARKS = 4
"""Clocks stay so many marks behind: sources re-read the last three, so nothing before that changes by itself."""
COLUMNS = ("rule_key", "lane", "shard", "mark", "gpu_ids", "carry", "checksum")
KEY = ("rule_key", "lane", "shard")
FEW = 8  # blocks up to which one statement is quicker than a staging table
BEHIND = "behind"  # the lane of passes behind what was folded already, as a replay makes them after a back-fill


@dataclass(frozen=True)
class Clocks:
    """The folds of one rule at ``mark`` for GPUs by id, sorted; ``checksum``: points seen in the reach before it."""

    mark: int
    gpu_ids: NDArray[np.int64]
    rows: NDArray[Any]
    checksum: NDArray[np.int64]

    def find(self, gpu_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """The place of each GPU, -1 for one without a clock."""
        if not len(self.gpu_ids):
            return np.full(len(gpu_ids), -1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.gpu_ids, gpu_ids), len(self.gpu_ids) - 1)
        return np.where(self.gpu_ids[place] == gpu_ids, place, -1)


def rule_key(rule: IdleRule) -> str:
    """The digest of a rule's numbers and of the layout of its folds."""
    return hashlib.sha256(repr((astuple(rule), DTYPE.descr)).encode()).hexdigest()[:40]


def read_clocks(rule: IdleRule, lane: str = "") -> Clocks:
    """Read the clocks of a rule in a lane; blocks that stand at an older mark than the newest are left out."""
    blocks = list(GpuClock.objects.filter(rule_key=rule_key(rule), lane=lane).order_by("shard"))
    newest = max((block.mark for block in blocks), default=None)
    kept = [block for block in blocks if block.mark == newest]
    ids = [np.frombuffer(bytes(block.gpu_ids), dtype=np.int64) for block in kept]
    rows = [np.frombuffer(bytes(block.carry), dtype=DTYPE) for block in kept]
    sums = [np.frombuffer(bytes(block.checksum), dtype=np.int64) for block in kept]
    if newest is None:
        return Clocks(0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=DTYPE), np.zeros(0, dtype=np.int64))
    return Clocks(int(newest.timestamp()), np.concatenate(ids), np.concatenate(rows), np.concatenate(sums))


def clock_mark(rule: IdleRule) -> int:
    """Where the clocks of a rule stand (epoch seconds); 0 without any."""
    marks = GpuClock.objects.filter(rule_key=rule_key(rule), lane="").values_list("mark", flat=True)
    return max((int(mark.timestamp()) for mark in marks), default=0)


def write_clocks(
    fleet: FleetAt, rule: IdleRule, pieces: Iterable[tuple[Rows, Carry, NDArray[np.int64]]], lane: str = ""
) -> None:
    """Write where a rule's folds stand: (rows, carry, checksum) of all its GPUs, all at one mark."""
    found = list(pieces)
    if not found:
        return
    ids = np.array(fleet.ids(np.concatenate([rows for rows, _, _ in found])), dtype=np.int64)
    order = np.argsort(ids)
    carries = np.concatenate([carry.rows for _, carry, _ in found])[order]
    sums, ids = np.concatenate([checksum for _, _, checksum in found])[order], ids[order]
    shards = ids // GpuClock.SHARD
    key, mark = rule_key(rule), moment(found[0][1].mark)
    blocks = []
    for shard in np.unique(shards):
        at = shards == shard
        data = (ids[at].tobytes(), carries[at].tobytes(), sums[at].tobytes())
        blocks.append((key, lane, int(shard), mark, *data))
    if len(blocks) > FEW:
        upsert_rows("fleet_gpuclock", COLUMNS, blocks, key=KEY)
        return
    GpuClock.objects.bulk_create(
        (GpuClock(**dict(zip(COLUMNS, block, strict=True))) for block in blocks),
        update_conflicts=True,
        unique_fields=KEY,
        update_fields=[column for column in COLUMNS if column not in KEY],
    )


def forget(gpu_ids: Collection[int]) -> None:
    """Drop the clocks of some GPUs under every rule: their samples changed."""
    gone = np.array(sorted(gpu_ids), dtype=np.int64)
    blocks = []
    for block in GpuClock.objects.filter(shard__in={int(gpu) // GpuClock.SHARD for gpu in gone}):
        ids = np.frombuffer(bytes(block.gpu_ids), dtype=np.int64)
        kept = ~np.isin(ids, gone)
        if kept.all():
            continue
        rows = np.frombuffer(bytes(block.carry), dtype=DTYPE)
        sums = np.frombuffer(bytes(block.checksum), dtype=np.int64)
        data = (ids[kept].tobytes(), rows[kept].tobytes(), sums[kept].tobytes())
        blocks.append((block.rule_key, block.lane, block.shard, block.mark, *data))
    upsert_rows("fleet_gpuclock", COLUMNS, blocks, key=KEY)


def checksum(block: SampleBlock, mark: int, rule: IdleRule) -> NDArray[np.int64]:
    """The points [G] that a block shows in the rule's reach before ``mark``."""
    inside = (block.marks > mark - rule.reach_seconds) & (block.marks <= mark)
    return np.asarray(block.points[:, inside].sum(axis=1, dtype=np.int64))


def checksum_of(piece: Piece, rule: IdleRule) -> NDArray[np.int64]:
    """The same at the end of a piece."""
    return checksum(piece.block, piece.track.carry.mark, rule)


def has_same_start(fleet: FleetAt, rows: Rows, carry: Carry) -> NDArray[np.bool_]:
    """Whether each carry was made with the start known now; where none is, the first sample stands for it."""
    known = fleet.facts(rows, carry.mark).started_at
    return np.asarray(np.isnan(known) | (carry.rows["start"] == known))
