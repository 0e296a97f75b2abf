"""Policies: nobody is stopped without having been told, and steps stand in order of time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from common.periods import parse_duration
from config.declared.document import Document
from config.declared.nodes import Path

ACTS = frozenset({"stop", "terminate", "cancel_job", "scale_to_zero"})
NOTICES = frozenset({"notify", "final_notice"})
DESTROYING = frozenset({"terminate", "cancel_job"})


def check_policies(document: Document) -> None:
    """Check the ladder of every policy; warn of what holds at once and of what will wait for a word."""
    for path, policy in document.listed("policies"):
        steps = [(number, step) for number, step in enumerate(policy.get("ladder") or []) if step and step.get("do")]
        ladders: defaultdict[tuple[str, str], list[tuple[Path, Mapping[str, Any]]]] = defaultdict(list)
        for number, step in steps:
            clock = "stopped_for" if step.get("stopped_for") else "after"
            if step.get(clock):
                ladders[clock, step.get("when") or ""].append(((*path, "ladder", number), step))
        for (clock, _), ladder in ladders.items():
            _check_ladder(document, clock, ladder)
        if policy.get("mode") == "enforce":
            message = f"The policy {policy.get('name')} is enforced at once, without a backtest that somebody has seen."
            document.warn((*path, "mode"), "enforce_without_backtest", message)
            _check_word(document, path, policy, {step["do"] for _, step in steps})


def _check_ladder(document: Document, clock: str, ladder: list[tuple[Path, Mapping[str, Any]]]) -> None:
    """Check one ladder: steps of one clock and one condition."""
    before, told = None, False
    for path, step in ladder:
        span = parse_duration(step[clock])
        if before is not None and span < before:
            document.wrong(
                (*path, clock), "ladder_order", "This step comes before the one above it.", "Sort the steps by time."
            )
        before = span
        if step["do"] in ACTS and not told:
            message = f"It would {step['do']} without telling anybody before."
            document.wrong((*path, "do"), "ladder_without_notice", message, "Put a notify step above it.")
        told = told or step["do"] in NOTICES


def _check_word(document: Document, path: Path, policy: Mapping[str, Any], does: set[str]) -> None:
    """Warn of an enforced policy that would destroy on nobody's word."""
    if does & DESTROYING and policy.get("approval") == "none" and not policy.get("destroys"):
        message = "Its destroying steps wait for an approval each time: the policy names neither approval nor destroys."
        document.warn((*path, "ladder"), "destroys_without_word", message)
