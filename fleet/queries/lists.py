"""Lists of GPUs and of findings, page by page, of visible teams only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from django.db import connection

from common.pages import Page, Slice
from common.periods import iso
from fleet.queries.filters import Conditions, iso_sql
from fleet.queries.jobs_now import holds_on
from fleet.queries.standing_documents import Reader, gpu_document
from people.roles import TeamChoice


def gpus_page(asked: Mapping[str, Any], part: Slice, choice: TeamChoice, reader: Reader) -> Page:
    """Give a page of GPUs by the team of their instance. ``asked``: account, instance, host, state, model, uuid."""
    where = Conditions(choice, "i.team_id")
    where.equal("a.name", asked.get("account"))
    where.equal("i.external_id", asked.get("instance"))
    where.equal("g.host", asked["host"].lower() if "host" in asked else None)
    where.equal("v.state", asked.get("state"))
    where.equal("g.model", asked.get("model"))
    where.equal("g.uuid", asked.get("uuid"))
    where.compare("g.id > %s", part.after)
    names = (
        "id", "uuid", "mig_instance", "index", "model", "host", "instance", "instance_id", "account", "team_id",
        "owner", "first_seen_at", "last_seen_at", "memory_total_mib", "state", "reason", "since", "evidence",
    )  # fmt: skip
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT g.id, g.uuid, g.mig_instance, g.index, g.model, g.host, i.external_id, i.id, a.name, i.team_id,
                       i.attributes ->> 'owner', g.first_seen_at, g.last_seen_at, g.memory_total_mib, v.state, v.reason,
                       {iso_sql("v.since")}, v.evidence::text
                FROM fleet_gpu g LEFT JOIN fleet_instance i ON i.id = g.instance_id
                LEFT JOIN fleet_account a ON a.id = i.account_id
                LEFT JOIN fleet_verdict v ON v.subject_kind = 'gpu' AND v.subject_id = g.id AND v."end" IS NULL
                WHERE {where.sql} ORDER BY g.id LIMIT %s""",
            [*where.values, part.limit + 1],
        )
        rows = [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
    shown = rows[: part.limit]
    holds = holds_on({row["instance_id"] for row in shown if row["instance_id"]}, reader.choice, reader.at)
    of_gpu: dict[int, list[Any]] = {}
    for held in holds.values():
        for hold in held:
            for gpu in hold.gpu_ids:
                of_gpu.setdefault(gpu, []).append(hold)
    documents = []
    for row in rows:
        row["evidence"] = orjson.loads(row["evidence"] or "{}")
        place = {
            "instance": row["instance"],
            "account": row["account"],
            "host": row["host"] or None,
            "memory_total_mib": row["memory_total_mib"],
            "first_seen_at": iso(row["first_seen_at"]),
            "last_seen_at": iso(row["last_seen_at"]),
        }
        document = gpu_document(row, of_gpu.get(row["id"], []), reader, row["team_id"], row["owner"])
        documents.append((row["id"], {**document, **place}))
    return part.page(documents)


def findings_page(asked: Mapping[str, Any], part: Slice, choice: TeamChoice, reader: Reader) -> Page:
    """Give a page of findings, newest first. ``asked``: kind, open, subject_kind, subject, instance, since, until."""
    where = Conditions(choice, "f.team_id")
    where.equal("f.kind", asked.get("kind"))
    where.flag(asked, "open", "f.closed_at IS NULL")
    where.equal("f.subject_kind", asked.get("subject_kind"))
    where.equal("f.subject_name", asked.get("subject"))
    where.equal("i.external_id", asked.get("instance"))
    where.compare("f.opened_at >= %s", asked.get("since"))
    where.compare("f.opened_at < %s", asked.get("until"))
    where.compare("f.id < %s", part.after)
    seen, values = reader.choice.condition("i.team_id")
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT f.id, f.kind, f.subject_kind, f.subject_name, f.team_id, f.episode, f.since, f.opened_at,
                       f.closed_at, f.closed_because, f.reopened, f.evidence::text,
                       CASE WHEN {seen} THEN i.external_id END, CASE WHEN {seen} THEN a.name END
                FROM fleet_finding f LEFT JOIN fleet_instance i ON i.id = f.instance_id
                LEFT JOIN fleet_account a ON a.id = i.account_id
                WHERE {where.sql} ORDER BY f.id DESC LIMIT %s""",
            [*values, *values, *where.values, part.limit + 1],
        )
        rows = cursor.fetchall()
    return part.page([(row[0], _finding(row, reader)) for row in rows])


def _finding(row: tuple[Any, ...], reader: Reader) -> dict[str, Any]:
    (
        pk, kind, subject_kind, subject, team_id, episode, since, opened_at, closed_at, because, reopened, text,
        instance, account,
    ) = row  # fmt: skip
    evidence = orjson.loads(text)
    minutes = evidence.get("minutes")
    if minutes is None and kind != "idle":
        minutes = int(((closed_at or reader.at) - since).total_seconds() // 60)
    return {
        "id": pk,
        "kind": kind,
        "subject": {"kind": subject_kind, "id": subject, "account": account},
        "instance": instance,
        "team": reader.team(team_id),
        "episode": iso(episode),
        "since": iso(since),
        "minutes": minutes,
        "opened_at": iso(opened_at),
        "closed_at": iso(closed_at) if closed_at else None,
        "closed_because": because or None,
        "reopened": reopened,
        "evidence": evidence,
    }
