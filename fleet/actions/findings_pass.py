"""Every kind of finding that a pass of `judge` looks after."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from common.money import plain
from fleet.actions.findings import OFFSETS, OpenFinding, Subject, Synced, open_findings, sync_findings
from fleet.domain.findings import Found
from fleet.domain.idle_cost import cost_of
from fleet.domain.ports import HourlyPrice, PriceLookup
from fleet.domain.states import IDLE, FindingKind
from fleet.domain.units import NOT_RUNNING
from fleet.queries import findings_now
from fleet.queries.findings_now import Scene
from fleet.queries.hangs import suspected_hang
from fleet.queries.judging import Unit, minutes_since
from fleet.queries.low_use import candidates, low_utilization, slot_of


def sync_all(scene: Scene, prices: PriceLookup) -> Synced:
    """Open and close what this pass can tell; give how many of each."""
    now = scene.fleet.at
    why = _reasons(scene)
    known = prices.prices(list(scene.fleet.machines), now)
    subjects = candidates(scene, slot_of(scene))
    low = list(low_utilization(scene, subjects))
    hangs = list(suspected_hang(scene))
    open_rows = _open_rows()
    over = _over(scene, open_rows)
    seen, seen_gpus = _seen(scene) | over, _seen_gpus(scene) | over
    found: dict[FindingKind, tuple[Sequence[Found], set[Subject] | None]] = {
        FindingKind.IDLE: (_priced(scene, _idle(scene, open_rows.get(FindingKind.IDLE, [])), known), None),
        FindingKind.SUSPECTED_HANG: (_priced(scene, hangs, known), seen),
        FindingKind.PARTLY_USED: (list(findings_now.partly_used(scene)), seen),
        FindingKind.GPU_LOST: (list(findings_now.gpu_lost(scene)), seen_gpus),
        FindingKind.UNASSIGNED: (list(findings_now.unassigned(scene)), None),
        FindingKind.UNKNOWN_HOST: (list(findings_now.unknown_host(scene)), None),
        FindingKind.TARGET_DOWN: (findings_now.target_down(now), None),
        FindingKind.LOW_UTILIZATION: (low, {*subjects, *over}),
    }
    done = [
        sync_findings(
            kind,
            ones,
            now=now,
            subjects_seen=known_of,
            why_closed=why if kind is FindingKind.IDLE else None,
            is_open=open_rows.get(kind, []),
        )
        for kind, (ones, known_of) in found.items()
    ]
    return Synced(sum(one.opened for one in done), sum(one.closed for one in done))


def _open_rows() -> dict[str, list[OpenFinding]]:
    rows: defaultdict[str, list[OpenFinding]] = defaultdict(list)
    for row in open_findings():
        rows[row.kind].append(row)
    return dict(rows)


def _idle(scene: Scene, open_rows: Sequence[OpenFinding]) -> list[Found]:
    """The idle findings that hold: those of units that are idle, and open ones that nothing has ended."""
    opened = {row.key: row for row in open_rows}
    minutes, offsets = _minutes(scene, {key: row.evidence for key, row in opened.items()})
    found: list[Found] = []
    for one in findings_now.idle(scene, minutes):
        if _unit(scene, one.key).verdict.state in IDLE:
            evidence = {**one.evidence, OFFSETS: offsets[one.key]} if offsets.get(one.key) else one.evidence
            found.append(replace(one, evidence=evidence))
        elif one.key in opened:  # unknown, or one busy sample: what was known of it stands
            row = opened[one.key]
            found.append(replace(one, since=row.since, evidence=row.evidence))
    return found


def _minutes(
    scene: Scene, old: Mapping[Subject, Mapping[str, Any]]
) -> tuple[dict[Subject, float | None], dict[Subject, dict[str, list[float]]]]:
    """Covered idle minutes of each idle unit, and the offsets that let the next pass count on without samples.

    A GPU that was idle before the others has minutes of its own clock that the unit's clock does not count: its offset,
    found from samples once, when the unit's clock begins; kept as GPU id -> [its since, offset, the unit's since].
    """
    fold = scene.judged.fold
    found: dict[Subject, float | None] = {}
    offsets: dict[Subject, dict[str, list[float]]] = {}
    asked: list[tuple[Subject, int, float]] = []
    for key, unit in _units(scene).items():
        since = unit.verdict.since
        if unit.verdict.state not in IDLE or since is None:
            continue
        known = old.get(key, {}).get(OFFSETS, {})
        own: list[float] = []
        for row in unit.rows:
            if fold["since"][row] == since:
                own.append(float(fold["minutes"][row]))
                continue
            gpu = str(scene.fleet.gpus[row].id)
            entry = known.get(gpu)
            if entry is not None and entry[0] == fold["since"][row] and entry[2] == since:
                own.append(float(fold["minutes"][row]) - entry[1])
                offsets.setdefault(key, {})[gpu] = entry
            else:
                asked.append((key, row, since))
        found[key] = min(own, default=float("inf"))
    answers = minutes_since(scene.fleet, scene.judged, [([row], since) for _, row, since in asked])
    for (key, row, since), minutes in zip(asked, answers, strict=True):
        found[key] = min(found[key] or 0.0, minutes) if found[key] is not None else minutes
        entry = [float(fold["since"][row]), float(fold["minutes"][row]) - minutes, since]
        offsets.setdefault(key, {})[str(scene.fleet.gpus[row].id)] = entry
    return found, offsets


def _units(scene: Scene) -> dict[Subject, Unit]:
    units = {("instance", pk): unit for pk, unit in scene.machines.items()}
    return units | {("job", pk): unit for pk, unit in scene.jobs.items()}


def _unit(scene: Scene, key: Subject) -> Unit:
    return scene.machines[key[1]] if key[0] == "instance" else scene.jobs[key[1]]


def _priced(scene: Scene, found: Sequence[Found], known: Mapping[int, HourlyPrice]) -> list[Found]:
    """Add the money to what is told; an unknown price stays unknown."""
    return [replace(one, facts={**one.facts, **_money(scene, one, known)}) for one in found]


def _money(scene: Scene, one: Found, known: Mapping[int, HourlyPrice]) -> dict[str, Any]:
    price = known.get(one.instance_id) if one.instance_id is not None else None
    if price is None:
        return {"price_per_hour": None, "idle_cost": None, "currency": None}
    per_hour = price.per_hour * _share(scene, one)
    minutes = one.evidence.get("minutes")
    cost = cost_of(per_hour, float(minutes)) if minutes is not None else None
    return {"price_per_hour": plain(per_hour), "idle_cost": plain(cost), "currency": price.currency}


def _share(scene: Scene, one: Found) -> Decimal:
    """The part of its instance's price that a subject holds: all of it, or a job's part of the devices there."""
    if one.subject_kind != "job" or one.instance_id is None or one.instance_id not in scene.fleet.machines:
        return Decimal(1)
    members = set(scene.fleet.machines[one.instance_id].members)
    held = [row for row in scene.jobs[one.subject_id].rows if row in members]
    return Decimal(len(held)) / Decimal(max(len(members), 1))


def _reasons(scene: Scene) -> dict[Subject, str]:
    """Why an idle finding that no longer holds has ended."""
    why: dict[Subject, str] = {}
    for key, unit in _units(scene).items():
        if key[0] == "instance" and scene.fleet.machines[key[1]].at.state in NOT_RUNNING:
            why[key] = "stopped"
        elif unit.rows:
            fold = scene.judged.fold[list(unit.rows)]
            why[key] = "restarted" if fold["start"].max() > fold["closed_mark"].max() else "busy"
    return why


def _seen(scene: Scene) -> set[Subject]:
    """The units whose newest samples tell something, and those that stopped."""
    seen: set[Subject] = set()
    for key, unit in _units(scene).items():
        if unit.verdict.state.value != "unknown":
            seen.add(key)
    return seen


def _seen_gpus(scene: Scene) -> set[Subject]:
    """The devices that report again, or stand in stopped or restarted machines."""
    fleet, fold = scene.fleet, scene.judged.fold
    seen: set[Subject] = set()
    for machine in fleet.machines.values():
        for row in machine.placed:
            is_back = fleet.mark - fold["seen_at"][row] <= 2 * fold["interval"][row] + 60
            is_over = machine.at.state in NOT_RUNNING or (machine.started or 0) > fold["seen_at"][row]
            if is_back or is_over:
                seen.add(("gpu", fleet.gpus[row].id))
    return seen


def _over(scene: Scene, open_rows: Mapping[str, Sequence[OpenFinding]]) -> set[Subject]:
    """Subjects of open findings that are there no more: ended jobs, instances and devices that left."""
    there: set[Subject] = set(_units(scene)) | {("gpu", gpu.id) for gpu in scene.fleet.gpus}
    return {row.key for rows in open_rows.values() for row in rows} - there
