"""The names that a file may refer to: its own, and those of rows that stay."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from alerts.queries.channels import channel_names
from config.declared.document import Document
from fleet.queries.inventory import account_names
from people.queries import person_addresses, team_spellings

PROFILES = ("interactive", "batch", "serving", "production")


@dataclass(frozen=True)
class Known:
    """Names by kind: casefolded to as written."""

    names: Mapping[str, Mapping[str, str]]

    def of(self, kind: str) -> Mapping[str, str]:
        """Give the names of one kind."""
        return self.names[kind]


def known_names(document: Document, *, prune: bool) -> Known:
    """Collect the names of the file and of the database; with ``prune`` only rows that no file has declared stay."""

    def written(section: str, key: str) -> Iterable[str]:
        return (thing[key] for _, thing in document.listed(section) if thing.get(key))

    return Known(
        {
            "team": _folded(team_spellings(undeclared_only=prune), written("teams", "name")),
            "account": _folded(account_names(undeclared_only=prune), written("accounts", "name")),
            "channel": _folded(channel_names(undeclared_only=prune), written("channels", "name")),
            "person": _folded(person_addresses(), written("people", "email")),
            "profile": _folded(PROFILES, _profiles(document.values.get("profiles"))),
        }
    )


def _profiles(section: Any) -> Iterable[str]:
    """Give the names in the reserved section, whichever form it has."""
    if isinstance(section, Mapping):
        return [str(name) for name in section]
    names = [one.get("name") if isinstance(one, Mapping) else one for one in section or []]
    return [name for name in names if isinstance(name, str)]


def _folded(*names: Iterable[str]) -> dict[str, str]:
    return {name.casefold(): name for group in names for name in group}
