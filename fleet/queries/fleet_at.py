"""The fleet as it was at a time, read once for a pass: GPUs, the instances they stand in, the jobs that hold them."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from fleet.domain.idle_rule import GpuFacts, IdleRule
from fleet.queries.inventory import InstanceAt, contested_hosts, has_accounts, instances_at, starts_up_to
from fleet.queries.ownership import Resolver
from fleet.queries.policies import IdleVersion, PolicyBook, PolicyOf, policy_rows
from fleet.queries.power import NEEDS_BASELINE, power_baselines

FORGOTTEN_AFTER = timedelta(hours=24)
EXCHANGED_AFTER = timedelta(hours=1)
STEP = 300


class GpuRow(NamedTuple):
    """A GPU and where it stands. Times in epoch seconds; ``position`` is its index on the host."""

    id: int
    uuid: str
    mig_instance: str
    position: int | None
    model: str
    vendor: str
    memory_total_mib: int | None
    power_limit_watts: float | None
    first_seen: float
    last_seen: float
    instance_id: int
    host: str

    @property
    def name(self) -> str:
        """What people read."""
        return f"{self.uuid}/{self.mig_instance}" if self.mig_instance else self.uuid

    @property
    def first_mark(self) -> int:
        """The mark of its first sample."""
        return int(-(-self.first_seen // STEP) * STEP)


@dataclass(frozen=True)
class Machine:
    """An instance with everything that judging it needs. ``members`` and ``placed`` are row numbers of GPUs.

    ``members``: the devices that count; ``placed``: also those that are gone, or were there before the newest start.
    """

    at: InstanceAt
    team_id: int | None
    owner: str
    policy: PolicyOf
    rule: IdleRule
    is_contested: bool
    members: tuple[int, ...]
    placed: tuple[int, ...]

    @property
    def id(self) -> int:
        """The instance's row."""
        return self.at.id

    @property
    def started(self) -> float | None:
        """The newest start by the provider's word, epoch seconds."""
        return self.at.started_at.timestamp() if self.at.started_at else None


@dataclass(frozen=True)
class Workload:
    """A job that holds GPUs now; ``gpus`` are row numbers."""

    id: int
    external_id: str
    owner: str
    team_id: int | None
    started: float
    gpus: tuple[int, ...]


@dataclass(frozen=True)
class FleetAt:
    """Everything at ``at``, a mark."""

    at: datetime
    gpus: Sequence[GpuRow]
    machines: Mapping[int, Machine]
    jobs: Mapping[int, Workload]
    organization_rule: IdleRule
    starts: Mapping[int, Sequence[float]]  # of each instance, sorted, up to now
    has_accounts: bool
    resolver: Resolver
    jobs_of: Mapping[int, Sequence[int]] = field(default_factory=dict)  # GPU row -> job ids
    moved: Mapping[int, Sequence[float]] = field(default_factory=dict)  # starts of GPUs (ids) of several instances
    idle_versions: Sequence[IdleVersion] = ()  # of the organisation's idle rule, in order of time
    power_baselines: Mapping[str, float] = field(default_factory=dict)  # watts by model, of those that need one

    @cached_property
    def mark(self) -> int:
        """``at`` in epoch seconds."""
        return int(self.at.timestamp())

    @cached_property
    def gpu_ids(self) -> NDArray[np.int64]:
        """The ids of all GPUs, by row."""
        return np.array([gpu.id for gpu in self.gpus], dtype=np.int64)

    @cached_property
    def _first_marks(self) -> NDArray[np.int64]:
        return np.array([gpu.first_mark for gpu in self.gpus], dtype=np.int64)

    @cached_property
    def _all_facts(self) -> GpuFacts:
        """Facts of all GPUs; ``started_at`` is the newest start."""
        gpus = self.gpus
        return GpuFacts(
            started_at=_numbers(self.starts_of(row)[-1] for row in range(len(gpus))),
            is_mig=np.array([bool(gpu.mig_instance) for gpu in gpus], dtype=np.bool_),
            is_amd=np.array([gpu.vendor == "amd" for gpu in gpus], dtype=np.bool_),
            memory_total_mib=_numbers(gpu.memory_total_mib for gpu in gpus),
            power_limit_watts=_numbers(gpu.power_limit_watts for gpu in gpus),
            power_baseline_watts=_numbers(self.power_baselines.get(gpu.model) for gpu in gpus),
        )

    def ids(self, rows: Sequence[int] | NDArray[np.int64]) -> list[int]:
        """The ids of some GPUs."""
        found: list[int] = self.gpu_ids[np.asarray(rows, dtype=np.int64)].tolist()
        return found

    def facts(self, rows: Sequence[int] | NDArray[np.int64], since: int) -> GpuFacts:
        """Facts of some GPUs for a fold over the marks after ``since``."""
        facts = self._all_facts.select(np.asarray(rows, dtype=np.int64))
        later_rows: list[int] = []
        later_starts: list[float] = []
        started = facts.started_at.copy()
        for place in np.flatnonzero(facts.started_at > since).tolist():
            starts = self.starts_of(int(rows[place]))
            known = bisect_right(starts, since)
            started[place] = starts[known - 1] if known else np.nan
            later_rows += [place] * (len(starts) - known)
            later_starts += starts[known:]
        return replace(
            facts,
            started_at=started,
            later_rows=np.array(later_rows, dtype=np.int64),
            later_starts=np.array(later_starts, dtype=np.float64),
        )

    def starts_of(self, row: int) -> Sequence[float]:
        """The starts of the machines where a GPU stood; where no provider tells any, its first point."""
        gpu = self.gpus[row]
        return self.moved.get(gpu.id) or self.starts.get(gpu.instance_id) or (gpu.first_seen,)

    def first_marks(self, rows: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """The mark of the first sample of some GPUs."""
        return self._first_marks[np.asarray(rows, dtype=np.int64)]

    def rule_of(self, row: int) -> IdleRule:
        """The rule that a GPU's instance is judged by."""
        machine = self.machines.get(self.gpus[row].instance_id)
        return machine.rule if machine else self.organization_rule

    def rule_flags(self, rule: IdleRule) -> NDArray[np.bool_]:
        """Which GPUs, by row, are judged by ``rule``."""
        flags = np.zeros(len(self.gpus), dtype=np.bool_)
        flags[self.rule_groups.get(rule, [])] = True
        return flags

    @cached_property
    def rule_groups(self) -> dict[IdleRule, list[int]]:
        """The GPUs (row numbers) by the rule that their instance is judged by."""
        groups: defaultdict[IdleRule, list[int]] = defaultdict(list)
        for row in range(len(self.gpus)):
            groups[self.rule_of(row)].append(row)
        return dict(groups)


def _numbers(values: Any) -> NDArray[np.float64]:
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def around(instance_id: int, at: datetime) -> list[int]:
    """Give the instances that judging one of them needs: all nodes of its jobs, and where its GPUs stood."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH here AS (SELECT gpu_id FROM fleet_gpuplacement
                          WHERE instance_id = %(instance)s AND start <= %(at)s AND ("end" IS NULL OR "end" > %(at)s)),
                 held AS (SELECT job_id FROM fleet_gpuuse JOIN here USING (gpu_id)
                          WHERE start <= %(at)s AND ("end" IS NULL OR "end" > %(at)s)),
                 theirs AS (SELECT gpu_id FROM fleet_gpuuse JOIN held USING (job_id)
                            WHERE start <= %(at)s AND ("end" IS NULL OR "end" > %(at)s)
                            UNION SELECT gpu_id FROM here)
            SELECT DISTINCT instance_id FROM fleet_gpuplacement JOIN theirs USING (gpu_id)
            WHERE start <= %(at)s AND instance_id IS NOT NULL
            """,
            {"instance": instance_id, "at": at},
        )
        return sorted({instance_id, *(pk for (pk,) in cursor.fetchall())})


def fleet_at(at: datetime, gpu_ids: Collection[int] = (), *, only: Collection[int] | None = None) -> FleetAt:
    """Read the fleet as it was at the mark ``at``; also the GPUs of ``gpu_ids`` that stood somewhere before.

    ``only``: these instances; what is outside of them is not looked at.
    """
    gpus = _placed_gpus(at, gpu_ids, only)
    resolver = Resolver(at, only)
    known_starts = starts_up_to(at, only)
    instances = instances_at(at, resolver.newest_attributes(), known_starts, only)
    rules = policy_rows(at)
    book = PolicyBook(at, rules)
    contested = contested_hosts(at)
    starts = {pk: [one.timestamp() for one in known] for pk, known in known_starts.items()}
    placed: defaultdict[int, list[int]] = defaultdict(list)
    for row, gpu in enumerate(gpus):
        placed[gpu.instance_id].append(row)
    organization_rule = IdleRule.from_spec(rules.organization)
    machines: dict[int, Machine] = {}
    idle_rules: dict[str, IdleRule] = {}
    for one in instances:
        owned = resolver.owned(one.id, None, at)
        policy = book.policy_of(one.external_id, one.account, owned.team_id, one.attributes)
        key = repr(sorted(policy.idle.items()))
        if key not in idle_rules:
            idle_rules[key] = IdleRule.from_spec(policy.idle)
        rows = placed.get(one.id, [])
        machines[one.id] = Machine(
            at=one, team_id=owned.team_id, owner=owned.owner, policy=policy, rule=idle_rules[key],
            is_contested=bool(one.host) and one.host in contested and one.account is not None,
            members=tuple(_members([gpus[row] for row in rows], rows, one, at)), placed=tuple(rows),
        )  # fmt: skip
    jobs, jobs_of = _jobs(at, gpus, resolver, is_whole=only is None)
    _lend_teams(machines, jobs, jobs_of)
    return FleetAt(
        at=at, gpus=gpus, machines=machines, jobs=jobs, organization_rule=organization_rule, starts=starts,
        has_accounts=any(one.account is not None for one in instances) if only is None else has_accounts(at),
        resolver=resolver, jobs_of=jobs_of, idle_versions=rules.idle_versions,
        moved=_moved(at, starts, None if only is None else [gpu.id for gpu in gpus]),
        power_baselines=power_baselines(at) if any(gpu.vendor == NEEDS_BASELINE for gpu in gpus) else {},
    )  # fmt: skip


def _lend_teams(
    machines: dict[int, Machine], jobs: Mapping[int, Workload], jobs_of: Mapping[int, Sequence[int]]
) -> None:
    """Give a machine that no rule gives to a team the one team whose jobs hold every GPU of it.

    Its policy stays the one of the rules: a job that comes or goes must not change what may happen to a machine.
    """
    for pk, machine in machines.items():
        if machine.team_id is None and machine.members:
            teams = {frozenset(jobs[job].team_id for job in jobs_of.get(row, ())) for row in machine.members}
            one = next(iter(teams))
            if len(teams) == 1 and len(one) == 1:
                machines[pk] = replace(machine, team_id=next(iter(one)))


def _placed_gpus(at: datetime, gpu_ids: Collection[int], only: Collection[int] | None) -> list[GpuRow]:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT g.id, g.uuid, g.mig_instance, g.index, g.model, g.vendor, g.memory_total_mib, g.power_limit_watts,
                   extract(epoch FROM g.first_seen_at)::float8, extract(epoch FROM g.last_seen_at)::float8,
                   p.instance_id, p.host
            FROM fleet_gpuplacement p JOIN fleet_gpu g ON g.id = p.gpu_id
            WHERE p.start <= %(at)s AND p.instance_id IS NOT NULL
              AND (%(only)s::bigint[] IS NULL OR p.instance_id = ANY(%(only)s))
              AND (p."end" IS NULL OR p."end" > %(at)s OR (
                p.gpu_id = ANY(%(ids)s) AND NOT EXISTS (
                    SELECT 1 FROM fleet_gpuplacement AS later
                    WHERE later.gpu_id = p.gpu_id AND later.start > p.start AND later.start <= %(at)s)))
            ORDER BY p.instance_id, g.index NULLS LAST, g.uuid, g.mig_instance
            """,
            {"at": at, "ids": list(gpu_ids), "only": None if only is None else list(only)},
        )
        return [GpuRow(*row) for row in cursor.fetchall()]


def _moved(
    at: datetime, starts: Mapping[int, Sequence[float]], gpu_ids: Sequence[int] | None
) -> dict[int, list[float]]:
    """The starts of GPUs that stood in several machines: those of the machines, and each arrival from another one.

    What a GPU did elsewhere is not what the machine did: its clock there begins when it arrives.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT gpu_id, instance_id, extract(epoch FROM start)::float8 FROM fleet_gpuplacement
            WHERE start <= %(at)s AND instance_id IS NOT NULL AND gpu_id IN (
                SELECT gpu_id FROM fleet_gpuplacement WHERE start <= %(at)s AND instance_id IS NOT NULL
                  AND (%(gpus)s::bigint[] IS NULL OR gpu_id = ANY(%(gpus)s))
                GROUP BY gpu_id HAVING count(DISTINCT instance_id) > 1)
            ORDER BY gpu_id, start
            """,
            {"at": at, "gpus": None if gpu_ids is None else list(gpu_ids)},
        )
        rows = cursor.fetchall()
    found: defaultdict[int, set[float]] = defaultdict(set)
    stood: dict[int, int] = {}
    for gpu, instance, arrived in rows:
        found[gpu].update(starts.get(instance, ()))
        if stood.get(gpu, instance) != instance:
            found[gpu].add(arrived)
        stood[gpu] = instance
    return {gpu: sorted(known) for gpu, known in found.items()}


def _members(gpus: Sequence[GpuRow], rows: Sequence[int], instance: InstanceAt, at: datetime) -> list[int]:
    """The devices that count: seen since the newest start and within a day; all of them when that leaves none.

    One that was exchanged (silent for an hour, while the machine is full without it) counts no more.
    """
    oldest = at - FORGOTTEN_AFTER
    if instance.started_at:
        oldest = max(oldest, instance.started_at)
    seen = dict(zip(rows, gpus, strict=True))
    lately = [row for row in rows if seen[row].last_seen > oldest.timestamp()]
    now = [row for row in lately if seen[row].last_seen > (at - EXCHANGED_AFTER).timestamp()]
    count = instance.attributes.get("gpu_count")
    if count and len(now) < len(lately) and len({seen[row].uuid for row in now}) >= int(count):
        return now
    return lately or list(rows)


def _jobs(
    at: datetime, gpus: Sequence[GpuRow], resolver: Resolver, *, is_whole: bool
) -> tuple[dict[int, Workload], dict[int, list[int]]]:
    """The jobs that hold GPUs now, with whose they are."""
    row_of = {gpu.id: row for row, gpu in enumerate(gpus)}
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT u.job_id, u.gpu_id, j.external_id, j.owner, extract(epoch FROM j.started_at)::float8
            FROM fleet_gpuuse u JOIN fleet_job j ON j.id = u.job_id
            WHERE u.start <= %(at)s AND (u."end" IS NULL OR u."end" > %(at)s)
              AND (j.ended_at IS NULL OR j.ended_at > %(at)s)
              AND (%(gpus)s::bigint[] IS NULL OR u.gpu_id = ANY(%(gpus)s))
            ORDER BY u.job_id, u.gpu_id
            """,
            {"at": at, "gpus": None if is_whole else list(row_of)},
        )
        uses = [use for use in cursor.fetchall() if use[1] in row_of]
    rows: defaultdict[int, list[int]] = defaultdict(list)
    jobs_of: defaultdict[int, list[int]] = defaultdict(list)
    heads: dict[int, tuple[str, str, float]] = {}
    for job_id, gpu_id, external_id, owner, started in uses:
        row = row_of[gpu_id]
        if row not in rows[job_id]:
            rows[job_id].append(row)
            jobs_of[row].append(job_id)
        heads[job_id] = (external_id, owner, started)
    resolver.load_jobs(list(heads))
    jobs: dict[int, Workload] = {}
    for job_id, (external_id, owner, started) in heads.items():
        owned = resolver.owned(gpus[rows[job_id][0]].instance_id, job_id, at)
        jobs[job_id] = Workload(job_id, external_id, owned.owner or owner, owned.team_id, started, tuple(rows[job_id]))
    return jobs, dict(jobs_of)


def moment(seconds: float) -> datetime:
    """Epoch seconds as a time."""
    return datetime.fromtimestamp(seconds, UTC)
