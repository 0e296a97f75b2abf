"""Conditions of lists, put together from what is asked: columns come from code, values are always parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from people.roles import TeamChoice


class Conditions:
    """The WHERE of a list: visible teams first, then whatever else is asked for."""

    def __init__(self, choice: TeamChoice, team_column: str) -> None:
        sql, values = choice.condition(team_column)
        self._parts, self.values = [sql], values

    def equal(self, column: str, value: Any) -> None:
        """Add an equality; None asks for nothing."""
        if value is not None:
            self._parts.append(f"{column} = %s")
            self.values.append(value)

    def compare(self, expression: str, value: Any) -> None:
        """Add ``expression`` with one %s for ``value``; None asks for nothing."""
        if value is not None:
            self._parts.append(expression)
            self.values.append(value)

    def flag(self, asked: Mapping[str, Any], name: str, when_true: str) -> None:
        """Add a condition or its contrary."""
        if name in asked:
            self._parts.append(when_true if asked[name] else f"NOT ({when_true})")

    @property
    def sql(self) -> str:
        """All of them together."""
        return " AND ".join(self._parts)


def iso_sql(column: str) -> str:
    """Give the SQL that writes a time as `common.periods.iso` does: rows by the hundred are not worth parsing."""
    return f"""to_char({column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')"""
