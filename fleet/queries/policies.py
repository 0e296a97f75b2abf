"""Which policy an instance has, which idle rule holds, and what is exempt, at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from fleet.domain.policies import PolicyFacts, choose, selector
from fleet.models import Exemption, IdleRuleVersion, Policy
from people.queries import team_lineages

IDLE_DEFAULTS: Mapping[str, Any] = {
    "threshold_pct": 5, "window": "1h", "empty_window": "30m", "min_coverage_pct": 80, "warm_up": "30m",
}  # fmt: skip

IdleVersion = tuple[datetime, Mapping[str, Any]]


@dataclass(frozen=True)
class Exempt:
    """Why policies leave an instance alone. ``by``: who approved or wants it, or the policy that excludes it."""

    by: str
    reason: str
    until: datetime | None


@dataclass(frozen=True)
class PolicyOf:
    """An instance's policy: None when none selects it. ``idle``: the rule to judge by, keys as declared."""

    policy: str | None
    version: int | None
    spec: Mapping[str, Any]
    idle: Mapping[str, Any]
    exempt: Exempt | None


@dataclass(frozen=True)
class PolicyRows:
    """What a book is made from: policies in file order, exemptions, the organisation's idle rule with its defaults.

    ``teams``: team id -> the casefolded names of the team and of the teams above it. ``idle_versions``: every version
    of the organisation's idle rule, as `idle_versions` gives them.
    """

    policies: Sequence[Policy]
    exemptions: Sequence[Exemption]
    organization: Mapping[str, Any]
    teams: Mapping[int, frozenset[str]]
    idle_versions: Sequence[IdleVersion] = ()


class PolicyBook:
    """All policies and exemptions at a time, read once (``rows``: as already read)."""

    def __init__(self, at: datetime, rows: PolicyRows | None = None) -> None:
        rows = rows or policy_rows(at)
        self._policies = {row.name: row for row in rows.policies}
        self._selectors = [selector(row.name, row.spec) for row in rows.policies]
        self._organization, self._teams = rows.organization, rows.teams
        self._exemptions: dict[str, Exemption] = {}
        for row in rows.exemptions:
            if row.until is None or row.until > at:
                self._exemptions.setdefault(row.instance_ref, row)

    def policy_of(
        self, external_id: str, account: str | None, team_id: int | None, attributes: Mapping[str, Any]
    ) -> PolicyOf:
        """Give the first policy in file order that takes the instance, and what exempts it."""
        facts = PolicyFacts(
            teams=self._teams.get(team_id, frozenset()) if team_id is not None else frozenset(),
            profile=str(attributes.get("profile") or ""),
            tags=attributes.get("tags") or {},
            account=account or "",
            purchase_option=str(attributes.get("purchase_option") or ""),
        )
        choice = choose(self._selectors, facts)
        exempt = self._exempt(external_id, account)
        if choice.policy is None:
            if exempt is None and choice.excluded_by is not None:
                exempt = Exempt(choice.excluded_by, f"excluded by {choice.because}", None)
            return PolicyOf(None, None, {}, self._organization, exempt)
        row = self._policies[choice.policy]
        return PolicyOf(row.name, row.version, row.spec, {**self._organization, **(row.spec.get("idle") or {})}, exempt)

    def _exempt(self, external_id: str, account: str | None) -> Exempt | None:
        """Give the exemption that names the instance, alone or with its account."""
        row = self._exemptions.get(f"{account}/{external_id}") or self._exemptions.get(external_id)
        return Exempt(row.approver or row.owner or "exemption", row.reason, row.until) if row else None


def policy_rows(at: datetime) -> PolicyRows:
    """Read all that policies are chosen by at ``at``."""
    versions = idle_versions()
    live = Exemption.objects.filter(Q(until=None) | Q(until__gt=at)).order_by("pk")
    teams = {pk: frozenset(name.casefold() for name in names) for pk, names in team_lineages().items()}
    organization = _idle_rule(versions, at)
    return PolicyRows(list(Policy.objects.order_by("position")), list(live), organization, teams, versions)


def idle_versions() -> list[IdleVersion]:
    """Give since when which idle rule of the organisation holds, in order of time, keys as declared."""
    return list(IdleRuleVersion.objects.order_by("valid_from").values_list("valid_from", "spec"))


def idle_rule(at: datetime) -> Mapping[str, Any]:
    """Give the organisation's idle rule in force at ``at``; the defaults while none was declared."""
    return _idle_rule(idle_versions(), at)


def _idle_rule(versions: Sequence[IdleVersion], at: datetime) -> Mapping[str, Any]:
    spec = next((spec for start, spec in reversed(versions) if start <= at), None)
    return {**IDLE_DEFAULTS, **spec} if spec is not None else IDLE_DEFAULTS
