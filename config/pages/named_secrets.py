"""The names of secrets that pages may use: those of FLEETLEDGER_SECRETS, and those that fleet.yaml uses already."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings

from alerts.queries.channels import channel_specs
from fleet.queries.sources import all_sources

_REFERENCE = re.compile(r"env:[A-Z_][A-Z0-9_]*|file:/\S+")


def secret_names() -> list[str]:
    """Give every name, in order."""
    found = {f"env:{name}" for name in settings.PAGE_SECRETS}
    for declared in [*(source.declared for source in all_sources()), *channel_specs(declared_only=True)]:
        found |= set(_references(declared))
    return sorted(found)


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for one in value.values():
            yield from _references(one)
    elif isinstance(value, list):
        for one in value:
            yield from _references(one)
    elif isinstance(value, str) and _REFERENCE.fullmatch(value):
        yield value
