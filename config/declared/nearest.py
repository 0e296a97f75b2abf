"""The nearest right word for a wrong one."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def did_you_mean(wrong: str, right: Iterable[str]) -> str:
    """Give ``Did you mean x?`` for the nearest of ``right`` in any case, or '' when none is near."""
    folded = {word.casefold(): word for word in sorted(right)}
    near = get_close_matches(wrong.casefold()[:80], folded, n=1, cutoff=0.6)
    return f"Did you mean {folded[near[0]]}?" if near else ""
