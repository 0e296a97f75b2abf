"""Things that must agree with each other: parents, addresses, periods."""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from django.conf import settings

from config.declared.addresses import is_loopback, is_reference
from config.declared.document import Document

MAX_LEVELS = 20  # of teams


def check_agreement(document: Document) -> None:
    """Run every check of this file."""
    _check_parents(document)
    _check_tests(document)
    _check_periods(document)
    _check_budgets(document)


def _check_parents(document: Document) -> None:
    """Refuse a team that stands above itself, and one with too many teams above it."""
    named = [(path, team) for path, team in document.listed("teams") if team.get("name")]
    parents = {team["name"].casefold(): (team.get("parent") or "").casefold() for _, team in named}
    for path, team in named:
        above: list[str] = []
        step = parents[team["name"].casefold()]
        while step and step not in above and len(above) <= MAX_LEVELS:
            above.append(step)
            step = parents.get(step, "")
        here = (*path, "parent")
        if team["name"].casefold() in above:
            document.wrong(
                here, "team_circle", f"{team['name']!r} stands above itself.", "Give one of the teams no parent."
            )
        elif len(above) > MAX_LEVELS:
            document.wrong(
                here, "too_many_levels", f"More than {MAX_LEVELS} teams stand above it.", "Leave some levels out."
            )


def _check_tests(document: Document) -> None:
    """Refuse `test: true` on an address that is not this machine."""
    for section, key in (("channels", "url"), ("accounts", "base_url")):
        for path, thing in document.listed(section):
            kind = thing.get("kind")
            if not thing.get("test") or kind == "static":
                continue
            address = (settings.EMAIL_URL or "") if kind == "email" else _address(thing.get(key))
            if address is not None and not is_loopback(address):
                hint = (
                    "Set EMAIL_URL to a host like 127.0.0.1."
                    if kind == "email"
                    else "Use an address like http://127.0.0.1:8099."
                )
                document.wrong((*path, "test"), "test_not_loopback", "test: true wants a loopback address.", hint)


def _address(value: str | None) -> str | None:
    """Give the address of a URL or of the variable that holds it; None when that is told at use only."""
    if value is None or not is_reference(value):
        return value
    found = os.environ.get(value.removeprefix("env:")) if value.startswith("env:") else None
    return found if found and urlsplit(found).scheme else None


def _check_periods(document: Document) -> None:
    """Refuse ends before starts. Times are ISO text in UTC, so text compares as time."""
    for section in ("commitments", "budgets"):
        for path, thing in document.listed(section):
            if thing.get("from") and thing.get("to") and thing["to"] <= thing["from"]:
                document.wrong((*path, "to"), "period_backwards", "It ends before it begins.", "Mend from or to.")
    hours = document.section("organization").get("working_hours") or {}
    if hours.get("from") and hours.get("to") and hours["to"] <= hours["from"]:
        document.wrong(
            ("organization", "working_hours", "to"),
            "period_backwards",
            "The day ends before it begins.",
            "Mend from or to.",
        )


def _check_budgets(document: Document) -> None:
    """Refuse a custom budget without a period, and one of two things at once."""
    for path, budget in document.listed("budgets"):
        if budget.get("period") == "custom" and not (budget.get("from") and budget.get("to")):
            document.wrong(
                (*path, "period"), "missing_key", "A custom period wants from and to.", "Add from: and to: here."
            )
        scopes = [key for key in ("team", "account", "project") if budget.get(key)]
        if len(scopes) > 1 and scopes != ["account", "project"]:
            document.wrong(
                (*path, scopes[1]), "one_of", f"A budget is of one of {' or '.join(scopes)}.", "Keep one of them."
            )
