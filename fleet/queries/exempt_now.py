"""What exempts the instances of a page, read in one question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import orjson
from django.db import connection

from common.periods import iso
from fleet.domain.policies import PolicyFacts, choose, selector

_QUESTION = """
    SELECT (SELECT jsonb_agg(jsonb_build_array(name, spec) ORDER BY position) FROM fleet_policy)::text,
           (SELECT jsonb_agg(jsonb_build_array(instance_ref, approver, owner, reason, until) ORDER BY id DESC)
            FROM fleet_exemption WHERE instance_ref = ANY(%s) AND (until IS NULL OR until > %s))::text,
           (SELECT jsonb_agg(jsonb_build_array(id, name, parent_id)) FROM people_team)::text
"""


class ExemptNow:
    """Why policies leave instances alone: an exemption that names them, or the policy that excludes them."""

    def __init__(self, instances: Sequence[tuple[str, str | None]], at: datetime) -> None:
        names = [name for name, _ in instances] + [f"{account}/{name}" for name, account in instances]
        with connection.cursor() as cursor:
            cursor.execute(_QUESTION, [names, at])
            ((policies, exemptions, teams),) = cursor.fetchall()
        self._selectors = [selector(name, spec) for name, spec in orjson.loads(policies or "[]")]
        self._exemptions = {row[0]: row for row in orjson.loads(exemptions or "[]")}  # the first one of a name stays
        self._teams = {pk: (name, parent) for pk, name, parent in orjson.loads(teams or "[]")}

    @property
    def can_exempt(self) -> bool:
        """Whether anything may exempt any of them at all."""
        return bool(self._exemptions) or any(one.exclude for one in self._selectors)

    def of(
        self, external_id: str, account: str | None, team_id: int | None, attributes: Mapping[str, Any]
    ) -> dict[str, Any] | None:
        """Give `exempt` as `judge` prints it."""
        row = self._exemptions.get(f"{account}/{external_id}") or self._exemptions.get(external_id)
        if row:
            _, approver, owner, reason, until = row
            end = iso(datetime.fromisoformat(until)) if until else None
            return {"by": approver or owner or "exemption", "reason": reason, "until": end}
        facts = PolicyFacts(
            teams=self._names(team_id),
            profile=str(attributes.get("profile") or ""),
            tags=attributes.get("tags") or {},
            account=account or "",
            purchase_option=str(attributes.get("purchase_option") or ""),
        )
        choice = choose(self._selectors, facts)
        if choice.policy is None and choice.excluded_by is not None:
            return {"by": choice.excluded_by, "reason": f"excluded by {choice.because}", "until": None}
        return None

    def _names(self, team_id: int | None) -> frozenset[str]:
        """Give the casefolded names of a team and of those above it; a circle ends where it closes."""
        found: set[str] = set()
        while team_id in self._teams:
            name, team_id = self._teams[team_id]
            if name.casefold() in found:
                break
            found.add(name.casefold())
        return frozenset(found)
