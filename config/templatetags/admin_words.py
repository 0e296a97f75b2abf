"""Words of the pages of admins."""

from __future__ import annotations

import json
from typing import Any

from django import template

from people.roles import ROLE_WORDS

register = template.Library()


@register.filter
def pretty(value: Any) -> str:
    """Write JSON values for people: one line per thing, letters as they are."""
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True)


@register.filter
def role_word(name: str) -> str:
    """Give the word of a role."""
    return str(ROLE_WORDS.get(name, name))


@register.filter
def spaced(code: str) -> str:
    """Write a code of the trail as words, letters as they are: `grant_role` is read as two."""
    return code.replace("_", " ")
