"""What a database can hold of texts from outside: no NUL, no half of a surrogate pair, no more than a column takes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable_text(text: str, *, limit: int) -> str:
    """Give ``text`` without what can't be stored, cut to ``limit``; the same text always gives the same."""
    return _UNSTORABLE.sub("", text)[:limit]


def storable(value: Any) -> Any:
    """Give JSON values without what can't be stored, at any depth."""
    if isinstance(value, str):
        return _UNSTORABLE.sub("", value)
    if isinstance(value, Mapping):
        return {storable(str(key)): storable(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [storable(inner) for inner in value]
    return value
