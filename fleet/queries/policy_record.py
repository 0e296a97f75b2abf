"""A policy and its exemptions as the decision record shows them: every value with where it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from common.periods import iso
from fleet.models import Exemption
from fleet.queries.policies import PolicyOf

RULE_KEYS = ("threshold_pct", "window", "empty_window", "min_coverage_pct", "warm_up")


def policy_document(policy: PolicyOf, organization: Mapping[str, Any]) -> dict[str, Any]:
    """Give name, version, mode and every number of the rule; ``organization``: its rule as declared."""
    declared: Mapping[str, Any] = policy.spec.get("idle") or {}
    values = {}
    for key in (*RULE_KEYS, "scope"):
        source = "organization" if key in organization else "default"
        if key in declared:
            source = f"policy {policy.policy}"
        values[key] = {"value": policy.idle.get(key, "instance" if key == "scope" else None), "from": source}
    return {
        "name": policy.policy,
        "version": policy.version,
        "mode": policy.spec.get("mode") if policy.policy else None,
        "values": values,
    }


def exemption_documents(rows: Iterable[Exemption], policy: PolicyOf, at: datetime) -> list[dict[str, Any]]:
    """Give every exemption that names the instance, with whether it holds at ``at``; else what policies exclude."""
    found = [
        {
            "by": row.approver or row.owner or "exemption",
            "reason": row.reason,
            "until": iso(row.until) if row.until else None,
            "holds": row.until is None or row.until > at,
        }
        for row in rows
    ]
    exempt = policy.exempt
    if exempt is not None and not any(one["holds"] for one in found):
        found.append({"by": exempt.by, "reason": exempt.reason, "until": None, "holds": True})
    return found


def references(account: str | None, external_id: str) -> list[str]:
    """Give the ways in which an exemption may name an instance."""
    return [external_id, f"{account}/{external_id}"]
