"""The present state as a fleet.yaml that `apply` accepts and changes nothing with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import yaml

from alerts.queries.channels import channel_specs
from alerts.queries.routes import route_forms
from billing.queries.declared_forms import budget_forms, commitment_forms, mapping_forms, price_forms
from fleet.queries.declared_forms import (
    account_forms,
    exemption_forms,
    idle_form,
    ownership_forms,
    policy_forms,
    source_forms,
)
from people.queries.declared_forms import kept_sections, organization_form, person_forms, team_forms


def _organization() -> dict[str, Any]:
    idle = idle_form()
    return organization_form() | ({"idle": idle} if idle else {})


SECTIONS: dict[str, Callable[[], Any]] = {
    "organization": _organization,
    "teams": team_forms,
    "people": person_forms,
    "ownership": ownership_forms,
    "sources": source_forms,
    "accounts": account_forms,
    "prices": price_forms,
    "commitments": commitment_forms,
    "policies": policy_forms,
    "exemptions": exemption_forms,
    "budgets": budget_forms,
    "channels": channel_specs,
    "routes": route_forms,
    "mappings": mapping_forms,
}


def section_text(name: str) -> str:
    """Write one section as YAML; "" when nothing stands in it."""
    found = SECTIONS[name]()
    return as_yaml({name: found}) if found else ""


def present_document() -> dict[str, Any]:
    """Give all of it as plain values. Secrets stand in it by name only, as everywhere."""
    document = {name: found for name, read in SECTIONS.items() if (found := read())}
    return document | kept_sections()


def present_text() -> str:
    """Write all of it as YAML."""
    return as_yaml(present_document())


def as_yaml(document: dict[str, Any]) -> str:
    """Write values as YAML, in the order they stand in."""
    text: str = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120)
    return text
