"""How far a new installation has come: one question, small numbers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection

from fleet.models import Instance


@dataclass(frozen=True)
class Progress:
    """``sources``: enabled ones that are read; ``answered``: those with a whole answer; ``error``: of a failing one."""

    sources: int
    answered: int
    failing: str
    error_code: str
    error_message: str
    error_hint: str
    gpus: int
    hosts: int
    models: int
    newest: datetime | None
    judged: int
    metered: int
    namespaces: int

    @property
    def is_connected(self) -> bool:
        """Whether a source has answered."""
        return self.answered > 0


def progress() -> Progress:
    """Read how far it has come."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            WITH sources AS (
                SELECT s.name, s.collected_until, p.error_code, p.error_message, p.error_hint
                FROM fleet_source s LEFT JOIN LATERAL (
                    SELECT error_code, error_message, error_hint FROM fleet_sourcepull
                    WHERE source_id = s.id ORDER BY at DESC, id DESC LIMIT 1) p ON true
                WHERE s.is_enabled AND s.kind <> 'activity'
            ), failing AS (SELECT * FROM sources WHERE error_code <> '' ORDER BY name LIMIT 1)
            SELECT (SELECT count(*) FROM sources), (SELECT count(*) FROM sources WHERE collected_until IS NOT NULL),
                coalesce((SELECT name FROM failing), ''), coalesce((SELECT error_code FROM failing), ''),
                coalesce((SELECT error_message FROM failing), ''),
                coalesce((SELECT error_hint FROM failing), ''), count(*), count(DISTINCT host), count(DISTINCT model),
                max(last_seen_at), (SELECT count(*) FROM fleet_verdict WHERE subject_kind = 'gpu' AND "end" IS NULL),
                (SELECT count(*) FROM fleet_meteredspan),
                (SELECT count(DISTINCT labels ->> 'namespace') FROM fleet_job)
            FROM fleet_gpu
            """
        )
        return Progress(*cursor.fetchone())


def running_now() -> dict[int, dict[str, Any]]:
    """Give the attributes of every machine that runs by its account's word, or stands in telemetry, by row id."""
    return dict(Instance.objects.filter(state__in=("running", "stopping")).values_list("pk", "attributes"))
