"""Change the organisation's idle rule by hand, and see beforehand what that would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from common.declared import Verb
from common.periods import floor_mark
from fleet.actions.declare import declare_idle_rule
from fleet.queries.rule_preview import states_at
from people.actions.audit import record


@transaction.atomic
def change_idle_rule(spec: Mapping[str, Any], *, now: datetime, by: str) -> bool:
    """Let another rule hold from its ``valid_from`` or from ``now`` on; say whether it is another one."""
    (change,) = declare_idle_rule(spec, now=now)
    if change.verb is Verb.UNCHANGED:
        return False
    record(now=now, by=by, action="change_idle_rule", subject_kind="organization", subject="idle", rule=dict(spec))
    return True


def preview_idle_rule(spec: Mapping[str, Any], *, now: datetime) -> dict[tuple[str, str], int]:
    """Count the machines that would be judged otherwise at ``now``: (state, other state) -> how many. Keeps nothing."""
    at = floor_mark(now)
    before = states_at(at)
    with transaction.atomic():
        declare_idle_rule({key: value for key, value in spec.items() if key != "valid_from"}, now=at)
        after = states_at(at)
        transaction.set_rollback(True)
    return dict(Counter((before[pk], state) for pk, state in after.items() if before.get(pk, state) != state))
