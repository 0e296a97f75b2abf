"""Find machines, GPUs and jobs by a part of their name, of visible teams only.

Machines and GPUs are few enough to be read through (10,000 in some milliseconds). Jobs are not: they are found by the
start of their id or of the name behind the namespace, each with an index.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db import connection

from common.listing import like_literal
from people.roles import TeamChoice


@dataclass(frozen=True)
class Found:
    """A thing of the fleet. ``account``: of its machine, "" for none; ``id``: as the provider or the scheduler says."""

    kind: str  # instance, gpu, job
    id: str
    account: str
    instance: str
    host: str
    team_id: int | None
    state: str
    model: str = ""
    source: str = ""
    started_at: datetime | None = None


def find_instances(text: str, choice: TeamChoice, limit: int) -> list[Found]:
    """Find machines by id, host or name tag: what is called so first, then what begins so, then what holds it."""
    seen, values = choice.condition("i.team_id")
    word = like_literal(text)
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT i.external_id, coalesce(a.name, ''), i.host, i.team_id, coalesce(v.state, '')
                FROM fleet_instance i LEFT JOIN fleet_account a ON a.id = i.account_id
                LEFT JOIN fleet_verdict v ON v.subject_kind = 'instance' AND v.subject_id = i.id AND v."end" IS NULL
                WHERE {seen} AND (i.external_id ILIKE %s OR i.host ILIKE %s
                                  OR i.attributes #>> '{{tags,Name}}' ILIKE %s)
                ORDER BY lower(i.external_id) <> lower(%s) AND i.host <> lower(%s),
                         i.external_id NOT ILIKE %s AND i.host NOT ILIKE %s,
                         i.state IN ('terminated', 'gone'), i.external_id, i.id DESC LIMIT %s""",
            [*values, *[f"%{word}%"] * 3, text, text, *[f"{word}%"] * 2, limit],
        )
        return [Found("instance", name, account, name, *rest) for name, account, *rest in cursor.fetchall()]


def find_gpus(text: str, choice: TeamChoice, limit: int) -> list[Found]:
    """Find GPUs by the start of their UUID, with or without `GPU-`, or by four letters of it or more."""
    seen, values = choice.condition("i.team_id")
    word = like_literal(text.lower().removeprefix("gpu-"))
    within = f"%{word}%" if len(text) >= 4 else f"GPU-{word}%"
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT g.uuid, coalesce(a.name, ''), coalesce(i.external_id, ''), g.host, i.team_id,
                       coalesce(v.state, ''), g.model
                FROM fleet_gpu g LEFT JOIN fleet_instance i ON i.id = g.instance_id
                LEFT JOIN fleet_account a ON a.id = i.account_id
                LEFT JOIN fleet_verdict v ON v.subject_kind = 'gpu' AND v.subject_id = g.id AND v."end" IS NULL
                WHERE {seen} AND (g.uuid ILIKE %s OR g.uuid ILIKE %s)
                ORDER BY g.uuid NOT ILIKE %s, g.uuid, g.id LIMIT %s""",
            [*values, f"{word}%", within, f"GPU-{word}%", limit],
        )
        return [Found("gpu", *row) for row in cursor.fetchall()]


def find_jobs(text: str, choice: TeamChoice, limit: int) -> list[Found]:
    """Find jobs by the start of their id, or of the name behind the namespace; the newest first."""
    seen, values = choice.condition("j.team_id")
    start = f"{like_literal(text.lower())}%"
    # Each way ends after `limit` jobs, newest first: a word that half of all jobs begin with costs no more.
    ways = {"lower(j.external_id) = %s": text.lower()} | dict.fromkeys(
        ("lower(j.external_id) LIKE %s", "split_part(lower(j.external_id), '/', 2) LIKE %s"), start
    )
    parts = [f"(SELECT j.* FROM fleet_job j WHERE {way} AND {seen} ORDER BY j.id DESC LIMIT %s)" for way in ways]
    with connection.cursor() as cursor:
        cursor.execute(
            f"""SELECT j.external_id, coalesce(s.name, ''), j.team_id, j.started_at FROM ({" UNION ".join(parts)}) j
                LEFT JOIN fleet_source s ON s.id = j.source_id
                ORDER BY lower(j.external_id) <> lower(%s), j.started_at DESC, j.id DESC LIMIT %s""",
            [*(one for word in ways.values() for one in (word, *values, limit)), text, limit],
        )
        rows = cursor.fetchall()
    return [
        Found("job", name, "", "", "", team_id, "", source=source, started_at=started)
        for name, source, team_id, started in rows
    ]
