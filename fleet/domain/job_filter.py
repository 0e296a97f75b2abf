"""Which jobs a list or a file is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

KINDS = ("slurm", "pod")


@dataclass(frozen=True)
class JobFilter:
    """Jobs that ran at some time in [``since``, ``until``); ``since`` None: those that run now. Empty text: any.

    ``owners``: only of these persons, in any case; None: of everybody. ``words``: all of them stand in name or owner.
    """

    since: datetime | None = None
    until: datetime | None = None
    state: str = ""
    kind: str = ""
    has_advice: bool = False
    owners: tuple[str, ...] | None = None
    words: tuple[str, ...] = ()
