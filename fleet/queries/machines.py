"""The machines that are there now, with their standing verdicts: one relation for the map, the table and its totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import connection

from fleet.domain.machine_filter import GPUS_MISSING, NONE, NOT_SEEN, SILENT, MachineFilter
from people.roles import TeamChoice

# What a machine is: an instance that its provider has not ended, or a host that no account knows while it stands.
_MACHINES = """
    SELECT i.id, a.name AS account, i.external_id, i.host, i.team_id, i.state AS provider_state,
           {gpus} AS gpus,
           {model} AS model, {region} AS region, coalesce(i.attributes ->> 'sku', '') AS sku, {owner} AS owner,
           coalesce(v.state, 'unknown') AS state, coalesce(v.reason, '') AS reason, v.since, v.start
    FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
    LEFT JOIN fleet_verdict v ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL
    WHERE (CASE WHEN i.account_id IS NULL THEN v.id IS NOT NULL ELSE i.state NOT IN ('terminated', 'gone') END)
      AND {where}
"""
GPU_COUNT = "coalesce(i.gpu_count, (SELECT count(DISTINCT g.uuid) FROM fleet_gpu g WHERE g.instance_id = i.id))"
GPU_MODEL = """coalesce(nullif(i.attributes ->> 'gpu_model', ''),
                    (SELECT min(g.model) FROM fleet_gpu g WHERE g.instance_id = i.id), '')"""
_REGION = "coalesce(i.attributes ->> 'region', '')"
_OWNER = "coalesce(i.attributes ->> 'owner', '')"
# The devices of a machine: MIG slices count as their device, which is as busy as the busiest of them.
DEVICES = """
    SELECT g.instance_id, g.uuid, min(g.index) AS place,
           min(CASE v.state WHEN 'working' THEN 0 WHEN 'warm_up' THEN 1 WHEN 'held' THEN 3 WHEN 'empty' THEN 4
                            WHEN 'stopped' THEN 5 ELSE 2 END) AS rank,
           bool_or(v.id IS NOT NULL AND NOT (v.state = 'unknown' AND v.reason = ANY(%s))) AS is_seen
    FROM fleet_gpu g LEFT JOIN fleet_verdict v ON v.subject_kind = 'gpu' AND v.subject_id = g.id AND v."end" IS NULL
    WHERE {where} GROUP BY g.instance_id, g.uuid
"""
DEVICE_STATES = ("working", "warm_up", "unknown", "held", "empty", "stopped")
RUNS = "i.state IN ('running', 'stopping')"
SILENT_REASONS = sorted(SILENT)


def machines_sql(choice: TeamChoice, asked: MachineFilter) -> tuple[str, list[Any]]:
    """Give the SELECT of the visible machines that ``asked`` leaves, with its parameters."""
    seen, values = choice.condition("i.team_id")
    parts = [seen]
    for value, column in ((asked.account, "a.name"), (asked.model, GPU_MODEL), (asked.region, _REGION)):
        if value == NONE:
            parts.append(f"coalesce({column}, '') = ''")
        elif value:
            parts.append(f"{column} = %s")
            values.append(value)
    if asked.state:
        parts.append("coalesce(v.state, 'unknown') = %s")
        values.append(asked.state)
    if asked.seen:
        sql, more = _seen_sql(asked.seen)
        parts.append(sql)
        values += more
    if asked.finding:
        of_jobs, teams = choice.condition("f.team_id")
        parts.append(
            "EXISTS (SELECT FROM fleet_finding f WHERE f.instance_id = i.id AND f.kind = %s AND f.closed_at IS NULL"
            f" AND (f.subject_kind <> 'job' OR {of_jobs}))"
        )
        values += [asked.finding, *teams]
    for word in asked.words:
        texts = f"concat_ws(' ', i.external_id, i.host, a.name, {_OWNER}, i.attributes ->> 'sku')"
        parts.append(f"position(lower(%s) in lower({texts})) > 0")
        values.append(word)
    sql = _MACHINES.format(gpus=GPU_COUNT, model=GPU_MODEL, region=_REGION, owner=_OWNER, where=" AND ".join(parts))
    return sql, values


def _seen_sql(seen: str) -> tuple[str, list[Any]]:
    """The condition that a running machine shows no GPU, or some but fewer than it has."""
    counted = f"""SELECT d.instance_id, count(*) FILTER (WHERE d.is_seen) AS n, count(*) AS known
                  FROM ({DEVICES.format(where="g.instance_id IS NOT NULL")}) d GROUP BY 1"""
    if seen == NOT_SEEN:
        return f"{RUNS} AND i.id NOT IN (SELECT instance_id FROM ({counted}) s WHERE s.n > 0)", [SILENT_REASONS]
    assert seen == GPUS_MISSING
    some = f"""SELECT s.instance_id FROM ({counted}) s JOIN fleet_instance j ON j.id = s.instance_id
               WHERE s.n BETWEEN 1 AND coalesce(j.gpu_count, s.known) - 1"""
    return f"{RUNS} AND i.id IN ({some})", [SILENT_REASONS]


@dataclass(frozen=True)
class MachineChoices:
    """What machines can be narrowed by: names that visible machines have."""

    accounts: Sequence[str]
    models: Sequence[str]
    regions: Sequence[str]
    has_unknown_hosts: bool


def machine_choices(choice: TeamChoice) -> MachineChoices:
    """Give the accounts, GPU models and regions of the visible machines, in one question."""
    sql, values = machines_sql(choice, MachineFilter())
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT array_agg(DISTINCT account) FILTER (WHERE account IS NOT NULL),
                       array_agg(DISTINCT model) FILTER (WHERE model <> ''),
                       array_agg(DISTINCT region) FILTER (WHERE region <> ''), count(*) FILTER (WHERE account IS NULL)
                FROM ({sql}) m""",
            values,
        )
        accounts, models, regions, hosts = cursor.fetchone() or (None, None, None, 0)
    return MachineChoices(accounts or (), models or (), regions or (), bool(hosts))
