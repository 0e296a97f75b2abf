"""Open and resolve alerts: once per (rule, subject, episode), one open at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction
from django.db.models import CharField

from alerts.actions.outbox import write_messages, write_resolved
from alerts.domain.occurrence import TOLD_WHEN_OVER, Occurrence
from alerts.domain.storable import storable, storable_text
from alerts.models import Alert
from alerts.models.alert import RESOLVED

_LIMITS = {
    field.name: field.max_length or 0
    for field in Alert._meta.concrete_fields
    if isinstance(field, CharField) and field.name != "state"
}
_GIVEN = """WITH given AS (
    SELECT DISTINCT ON (rule, subject_kind, subject, account, episode) *
    FROM jsonb_to_recordset(%(rows)s::jsonb) AS row(
        rule text, kind text, subject_kind text, subject text, account text, team_id bigint, owner text,
        episode text, threshold text, facts jsonb, place int)
    ORDER BY rule, subject_kind, subject, account, episode, place)
"""
_REOPEN = (
    _GIVEN
    + """UPDATE alerts_alert AS alert
    SET state = 'open', resolved_at = NULL, reopened = alert.reopened + 1, facts = given.facts
    FROM given
    WHERE alert.rule = given.rule AND alert.subject_kind = given.subject_kind AND alert.subject = given.subject
        AND alert.account = given.account AND alert.episode = given.episode AND alert.state = 'resolved'
        AND NOT EXISTS (
            SELECT 1 FROM alerts_alert AS other
            WHERE other.rule = alert.rule AND other.subject_kind = alert.subject_kind AND other.subject = alert.subject
                AND other.account = alert.account AND other.state <> 'resolved')"""
)
_OPEN = (
    _GIVEN
    + """INSERT INTO alerts_alert
        (rule, kind, subject_kind, subject, account, team_id, owner, episode, threshold, facts,
         state, opened_at, reopened)
    SELECT rule, kind, subject_kind, subject, account, team_id, owner, episode, threshold, facts,
        'open', %(now)s, 0
    FROM given ORDER BY place
    ON CONFLICT DO NOTHING RETURNING id"""
)


@transaction.atomic
def raise_alerts(occurrences: Sequence[Occurrence], *, now: datetime) -> int:
    """Open an alert for each occurrence that is new, with its message to whom the routes say; give how many opened.

    The same occurrence again does nothing; one that was resolved meanwhile is reopened without another message; while
    an alert of the rule is open for the subject, another episode of it opens nothing.
    """
    if not occurrences:
        return 0
    rows = json.dumps([_row(place, one) for place, one in enumerate(occurrences)])
    with connection.cursor() as cursor:
        cursor.execute(_REOPEN, {"rows": rows})
        cursor.execute(_OPEN, {"rows": rows, "now": now})
        opened = [pk for (pk,) in cursor.fetchall()]
    if opened:
        write_messages(list(Alert.objects.filter(pk__in=opened).order_by("pk")), now=now)
    return len(opened)


def _row(place: int, one: Occurrence) -> dict[str, object]:
    """Give the row of an occurrence; a name that is too long for its column must not fail all others."""
    texts = {name: storable_text(getattr(one, name) or "", limit=limit) for name, limit in _LIMITS.items()}
    return {**texts, "team_id": one.team_id, "facts": storable(one.facts), "place": place}


@transaction.atomic
def resolve_alerts(
    *,
    rule: str,
    subject_kind: str,
    subjects: Sequence[str],
    now: datetime,
    account: str = "",
    episode: str | None = None,
) -> int:
    """Resolve what is open of ``rule`` for the subjects; give how many. Only what is known to be over may come here.

    ``episode`` (default: whichever is open) names one. For the kinds of TOLD_WHEN_OVER who was told is told the end.
    """
    if not subjects:
        return 0
    found = Alert.objects.filter(
        rule=rule,
        subject_kind=subject_kind,
        subject__in=[storable_text(subject, limit=_LIMITS["subject"]) for subject in subjects],
        account=account or "",
    ).exclude(state=RESOLVED)
    if episode is not None:
        found = found.filter(episode=episode)
    over = list(found.select_for_update().order_by("pk"))
    Alert.objects.filter(pk__in=[alert.pk for alert in over]).update(state=RESOLVED, resolved_at=now)
    write_resolved([alert for alert in over if alert.kind in TOLD_WHEN_OVER], now=now)
    return len(over)
