"""Say in the result of an apply that prices change what past time cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from billing.queries.price_moves import PastMove
from common.money import plain
from common.periods import iso
from config.declared.document import Document

HOUR_MS = timedelta(hours=1) // timedelta(milliseconds=1)


def warn_of_moves(document: Document, moves: Sequence[PastMove]) -> None:
    """Warn of every price that moves the past, at its place in the file."""
    for move in moves:
        document.warn(("prices", move.change.number), "price_changes_past", sentence(move))


def sentence(move: PastMove) -> str:
    """Say which price, of which time, for how many machines, and what becomes of the money."""
    change, told = move.change, []
    if move.before and move.after:
        told.append(f"{_money(move.before)} become {_money(move.after)}")
    elif move.before:
        told.append(f"{_money(move.before)} become unpriced")
    if move.newly_priced_ms:
        told.append(f"{move.newly_priced_ms / HOUR_MS:.2f} GPU-hours without a price get one")
    machines = "one instance" if len(move.instances) == 1 else f"{len(move.instances)} instances"
    return (
        f"{change.name} changes what was metered from {iso(change.start)} to {iso(change.end)} on {machines}:"
        f" {', '.join(told)}. To let the past stand, give the new price a valid_from of its own."
    )


def _money(amounts: Mapping[str, Decimal]) -> str:
    return " + ".join(f"{plain(round(amount, 2))} {currency}" for currency, amount in sorted(amounts.items()))
