"""The `judge` documents of the standing verdicts: a page of instances with their GPUs, jobs and findings, set by set.

What a verdict rests on was written when it began; an open idle finding brings it up to date. Covered minutes are known
of instances and jobs with an open finding; of single GPUs only `judge` counts them, so here they are null.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from common.money import plain
from common.pages import Page, Slice
from common.periods import iso
from fleet.domain.idle_cost import cost_of
from fleet.domain.ports import HourlyPrice, PriceLookup
from fleet.domain.states import IDLE, State
from fleet.queries.exempt_now import ExemptNow
from fleet.queries.filters import Conditions, iso_sql
from fleet.queries.jobs_now import Figures, JobHold, holds_on
from fleet.queries.machines import GPU_COUNT, GPU_MODEL
from fleet.queries.verdicts import Say
from people.roles import TeamChoice

MEASURED = ("coverage_pct", "peak_pct", "mean_pct", "signal")


@dataclass(frozen=True)
class Reader:
    """For whom documents are written: rows they may see, the names of these teams, and the time."""

    choice: TeamChoice
    teams: Mapping[int, str]
    at: datetime

    def team(self, team_id: int | None) -> str | None:
        """Give the team's name, if it may be told."""
        return self.teams.get(team_id) if team_id is not None else None


def standing_page(
    asked: Mapping[str, Any], part: Slice, choice: TeamChoice, reader: Reader, prices: PriceLookup, *, say: Say,
    more: Figures,
) -> Page:  # fmt: skip
    """Give a page of instances. ``asked``: account, state, host, instance, instance_state. ``choice``: which teams.

    ``more``: gives further fields by row id.
    """
    rows = _instances(asked, part, choice)
    shown = rows[: part.limit]
    ids = [row["id"] for row in shown]
    desk = _Desk(
        reader, say, prices.prices(ids, reader.at), _gpus(ids), holds_on(ids, reader.choice, reader.at), _findings(ids),
        ExemptNow([(row["instance"], row["account"]) for row in shown], reader.at),
        more(ids),
    )  # fmt: skip
    documents = [(row["id"], desk.document(row)) for row in shown]
    return part.page([*documents, *((row["id"], {}) for row in rows[part.limit :])])


def _instances(asked: Mapping[str, Any], part: Slice, choice: TeamChoice) -> list[dict[str, Any]]:
    where = Conditions(choice, "i.team_id")
    where.equal("a.name", asked.get("account"))
    where.equal("v.state", asked.get("state"))
    where.equal("i.host", asked["host"].lower() if "host" in asked else None)
    where.equal("i.external_id", asked.get("instance"))
    where.equal("i.state", asked.get("instance_state"))
    where.compare("i.id > %s", part.after)
    return _read(
        f"""SELECT i.id, i.external_id AS instance, a.name AS account, i.host, i.team_id, i.attributes::text,
                   i.gpu_count, {GPU_COUNT} AS counted, {GPU_MODEL} AS gpu_model,
                   i.state AS instance_state, v.state, v.reason, v.since,
                   v.confidence, v.policy, (v.evidence || coalesce(f.evidence, '{{}}'))::text AS evidence
            FROM fleet_instance i JOIN fleet_verdict v
                ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL
            LEFT JOIN fleet_account a ON a.id = i.account_id
            LEFT JOIN fleet_finding f ON f.kind = 'idle' AND f.subject_kind = 'instance' AND f.subject_id = i.id
                AND f.closed_at IS NULL
            WHERE {where.sql} ORDER BY i.id LIMIT %s""",
        [*where.values, part.limit + 1],
    )


def _gpus(instance_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    rows = _read(
        f"""SELECT g.instance_id, g.id, g.uuid, g.mig_instance, g.index, g.model, v.state, v.reason,
                  {iso_sql("v.since")} AS since, v.evidence::text
           FROM fleet_gpu g JOIN fleet_verdict v ON v.subject_kind = 'gpu' AND v.subject_id = g.id AND v."end" IS NULL
           WHERE g.instance_id = ANY(%s) ORDER BY g.instance_id, g.index, g.uuid, g.mig_instance""",
        [list(instance_ids)],
    )
    return _by_instance(rows)


def _findings(instance_ids: Sequence[int]) -> dict[int, list[dict[str, Any]]]:
    rows = _read(
        """SELECT instance_id, kind, since, subject_kind, subject_name, team_id, evidence::text FROM fleet_finding
           WHERE instance_id = ANY(%s) AND closed_at IS NULL ORDER BY instance_id, since, id""",
        [list(instance_ids)],
    )
    return _by_instance(rows)


def _by_instance(rows: Sequence[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: defaultdict[int, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        found[row["instance_id"]].append(row)
    return dict(found)


def _read(query: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    """Read rows by name; JSON columns come as text and are parsed here, which is faster."""
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        names = [column.name for column in cursor.description]
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    for row in rows:
        for name in ("attributes", "evidence"):
            if name in row:
                row[name] = orjson.loads(row[name])
    return rows


@dataclass(frozen=True)
class _Desk:
    """All that the documents of a page are written from."""

    reader: Reader
    say: Say
    prices: Mapping[int, HourlyPrice]
    gpus: Mapping[int, list[dict[str, Any]]]
    holds: Mapping[int, list[JobHold]]
    findings: Mapping[int, list[dict[str, Any]]]
    exempt: ExemptNow
    more: Mapping[int, dict[str, Any]]

    def document(self, row: dict[str, Any]) -> dict[str, Any]:
        """One instance, as `judge` prints it."""
        evidence, attributes, price = row["evidence"], row["attributes"], self.prices.get(row["id"])
        is_idle = row["state"] in IDLE
        minutes = evidence.get("minutes") if is_idle else None
        money = {
            "currency": price.currency if price else None,
            "price_per_hour": plain(price.per_hour) if price else None,
            "idle_cost": _idle_cost(row["state"], minutes, price),
        }
        told = {"state": row["state"], "since": iso(row["since"]) if is_idle and row["since"] else None}
        told |= {"minutes": minutes, "reason": row["reason"]}
        holds = self.holds.get(row["id"], [])
        return {
            "instance": row["instance"],
            "account": row["account"],
            "host": row["host"] or None,
            "provider": attributes.get("provider") or None,
            "team": self.reader.team(row["team_id"]),
            "owner": attributes.get("owner") or None,
            "policy": row["policy"] or None,
            **told,
            "sentence": self.say({"gpus": 0, **evidence, **money, **told, **self._facts(row)}),
            "confidence": row["confidence"],
            **{name: evidence.get(name) for name in MEASURED},
            **money,
            "instance_state": row["instance_state"],
            "exempt": self.exempt.of(row["instance"], row["account"], row["team_id"], attributes),
            "vetoes": [],
            "stopped_but_billed": row["instance_state"] == "stopped_billed",
            "gpus": [self._gpu(row, gpu, holds) for gpu in self.gpus.get(row["id"], [])],
            "jobs": [hold.document(self.reader.teams) for hold in holds],
            "findings": [self._finding(one) for one in self.findings.get(row["id"], []) if self._shows(one)],
            "gpu_model": row["gpu_model"] or None,
            "gpu_count": row["counted"] or None,
            "sku": attributes.get("sku") or None,
            "region": attributes.get("region") or None,
            **self.more.get(row["id"], {}),
        }

    def _shows(self, finding: dict[str, Any]) -> bool:
        """Whether a finding is of the machine, or of a job whose team may be seen."""
        return finding["subject_kind"] != "job" or self.reader.choice.covers(finding["team_id"])

    def _facts(self, row: dict[str, Any]) -> dict[str, Any]:
        return {"at": iso(self.reader.at), "gpu_count": row["gpu_count"]}

    def _gpu(self, row: dict[str, Any], gpu: dict[str, Any], holds: Sequence[JobHold]) -> dict[str, Any]:
        mine = [hold for hold in holds if gpu["id"] in hold.gpu_ids]
        return gpu_document(gpu, mine, self.reader, row["team_id"], row["attributes"].get("owner"))

    def _finding(self, one: dict[str, Any]) -> dict[str, Any]:
        minutes = one["evidence"].get("minutes")
        if minutes is None and one["kind"] != "idle":
            minutes = int((self.reader.at - one["since"]).total_seconds() // 60)
        subject = {"kind": one["subject_kind"], "id": one["subject_name"]}
        return {
            "kind": one["kind"],
            "since": iso(one["since"]),
            "minutes": minutes,
            "evidence": {**one["evidence"], "subject": subject},
        }


def _idle_cost(state: str, minutes: float | None, price: HourlyPrice | None) -> str | None:
    """Idle cost so far: none while it does not idle, not known while the state, the minutes or the price are not."""
    if price is None or state == State.UNKNOWN:
        return None
    if state not in IDLE:
        return "0.00"
    return plain(cost_of(price.per_hour, minutes)) if minutes is not None else None


def gpu_document(
    gpu: Mapping[str, Any], holds: Sequence[JobHold], reader: Reader, team_id: int | None, owner: str | None
) -> dict[str, Any]:
    """One GPU; whose it is: of the one visible job that holds it, else of its instance. ``since`` comes written."""
    is_idle = gpu["state"] in IDLE and gpu["since"] is not None
    evidence: Mapping[str, Any] = gpu["evidence"] or {}
    holder = holds[0] if len(holds) == 1 else None
    return {
        "uuid": gpu["uuid"],
        "mig_instance": gpu["mig_instance"] or None,
        "index": gpu["index"],
        "model": gpu["model"] or None,
        "state": gpu["state"] or State.UNKNOWN.value,
        "reason": gpu["reason"],
        "since": gpu["since"] if is_idle else None,
        "minutes": None,
        **{name: evidence.get(name) for name in MEASURED},
        "team": reader.team(holder.team_id if holder else team_id),
        "owner": (holder.owner if holder else owner) or None,
        "jobs": [hold.name for hold in holds],
    }
