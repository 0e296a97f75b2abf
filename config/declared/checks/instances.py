"""Declared instances: times and states that agree, and references to them that stand for one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from config.declared.document import Document
from config.declared.nearest import did_you_mean
from config.declared.nodes import Path
from fleet.queries.inventory import has_instance


def check_instances(document: Document) -> None:
    """Run every check of this file."""
    for path, account in document.listed("accounts"):
        for number, one in enumerate(account.get("instances") or []):
            if one is not None:
                _check_times((*path, "instances", number), one, document)
                _check_history((*path, "instances", number), one, document)
    _check_exemptions(document)


def _check_times(path: Path, one: Mapping[str, Any], document: Document) -> None:
    """Refuse times that contradict each other. They are ISO text in UTC, so text compares as time."""
    launched, started, stopped = one.get("launched_at"), one.get("last_started_at"), one.get("stopped_at")
    if launched and started and started < launched:
        document.wrong(
            (*path, "last_started_at"),
            "times_disagree",
            "It started last before it was launched.",
            "Mend one of the times.",
        )
    if launched and stopped and stopped < launched:
        document.wrong(
            (*path, "stopped_at"), "times_disagree", "It stopped before it was launched.", "Mend one of the times."
        )
    runs = one.get("state") in (None, "running", "stopping") and not one.get("history")
    if stopped and runs and (not started or stopped > started):
        document.wrong(
            (*path, "stopped_at"),
            "state_disagrees",
            "It stopped, but it is said to run.",
            "Write state: stopped, or a later last_started_at.",
        )
    for index, disk in enumerate(one.get("disks") or []):
        if disk and disk.get("from") and disk.get("to") and disk["to"] <= disk["from"]:
            document.wrong(
                (*path, "disks", index, "to"), "period_backwards", "It ends before it begins.", "Mend from or to."
            )


def _check_history(path: Path, one: Mapping[str, Any], document: Document) -> None:
    """Refuse a history that is out of order, or that ends in another state than the instance has."""
    history = [entry for entry in one.get("history") or [] if entry and entry.get("at") and entry.get("state")]
    ats = [entry["at"] for entry in history]
    if ats != sorted(set(ats)):
        document.wrong(
            (*path, "history"),
            "history_order",
            "The history is not in order of time.",
            "Sort it; one state for each time.",
        )
    elif history and one.get("state") and history[-1]["state"] != one["state"]:
        message = f"It is {one['state']}, but its history ends with {history[-1]['state']}."
        document.wrong(
            (*path, "state"), "state_disagrees", message, "Leave state out, or add the entry that is missing."
        )


def _check_exemptions(document: Document) -> None:
    """Refuse an exemption of an instance that is nowhere, as far as the file lists all instances; else warn."""
    accounts = [account for _, account in document.listed("accounts")]
    full = [
        f"{account['name']}/{one['id']}"
        for account in accounts
        if account.get("name")
        for one in account.get("instances") or []
        if one and one.get("id")
    ]
    by_id: dict[str, list[str]] = {}
    for one_name in full:
        by_id.setdefault(one_name.split("/", 1)[1], []).append(one_name)
    all_listed = bool(full) and all(account.get("kind") == "static" for account in accounts)
    for path, exemption in document.listed("exemptions"):
        name = str(exemption.get("instance") or "")
        if not name or name in full or len(by_id.get(name, ())) == 1:
            continue
        here = (*path, "instance")
        if name in by_id:
            document.wrong(here, "ambiguous_instance", f"{name!r} is in several accounts.", f"Write {by_id[name][0]}.")
        elif has_instance(name):
            continue
        elif all_listed:
            hint = did_you_mean(name, [*full, *by_id]) or "Write id or account/id."
            document.wrong(here, "unknown_instance", f"There is no instance {name!r}.", hint)
        else:
            document.warn(here, "unknown_instance", f"There is no instance {name!r} yet.")
