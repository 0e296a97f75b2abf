"""What stands in the tables of `fleet`, in the form of fleet.yaml."""

from __future__ import annotations

from typing import Any

from common.periods import iso
from fleet.models import Account, Exemption, IdleRuleVersion, OwnershipRule, Policy, Source

Form = dict[str, Any]


def idle_form() -> Form | None:
    """Give the newest idle rule of the organisation; None: the defaults."""
    row = IdleRuleVersion.objects.order_by("-valid_from").first()
    return dict(row.spec) if row else None


def ownership_forms() -> list[Form]:
    """Give the rules as they were last set."""
    newest = OwnershipRule.objects.order_by("-valid_from", "position").first()
    return list(newest.declared_set or []) if newest else []


def source_forms() -> list[Form]:
    """Give every source."""
    rows = Source.objects.order_by("pk")
    return [{"name": row.name, "kind": row.kind, "enabled": row.is_enabled, **row.spec} for row in rows]


def account_forms() -> list[Form]:
    """Give every account with its listed machines."""
    rows = Account.objects.filter(removed_at=None).order_by("pk")
    forms = [{"name": row.name, "kind": row.kind, "provider": row.provider, **row.spec} for row in rows]
    return [{key: value for key, value in form.items() if key != "instances" or value} for form in forms]


def policy_forms() -> list[Form]:
    """Give the policies in order."""
    return [dict(row.spec) for row in Policy.objects.order_by("position")]


def exemption_forms() -> list[Form]:
    """Give the exemptions."""
    return [
        {"instance": row.instance_ref, "reason": row.reason}
        | ({"owner": row.owner} if row.owner else {})
        | ({"approver": row.approver} if row.approver else {})
        | ({"until": iso(row.until)} if row.until else {})
        for row in Exemption.objects.order_by("pk")
    ]
