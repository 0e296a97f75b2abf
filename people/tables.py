"""Tables of `people`: who may do what."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from people.roles import ROLE_ORDER, Rule


def role_table(rules: Sequence[Rule]) -> list[dict[str, Any]]:
    """Give one row per right: its words, and for each role in order whether it has it."""
    return [
        {"about": rule.about, "whole_only": rule.whole_only, "marks": [role in rule.roles for role in ROLE_ORDER]}
        for rule in rules
    ]


def details_text(details: Mapping[str, Any]) -> str:
    """Write the details of an event for people: one line per thing, letters as they are; "" when there are none."""
    return json.dumps(details, indent=1, ensure_ascii=False, sort_keys=True) if details else ""
