"""Where a job ran: machines with their GPUs, and lines of the picture named after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from common.formats import percent
from fleet.charts.activity import ActivityRow
from fleet.queries.jobs import JobPlace
from fleet.queries.trace import Traced


@dataclass(frozen=True)
class PlaceRow:
    """A machine on which a job ran. ``path`` "": its record may not be seen."""

    name: str
    path: str
    account: str
    gpus: int
    start: datetime
    end: datetime | None
    lasted: timedelta


def place_rows(places: Iterable[JobPlace], sees: Callable[[int | None], bool], now: datetime) -> list[PlaceRow]:
    """Make rows of machines; the record of another team's machine is not linked."""
    return [
        PlaceRow(
            one.external_id, one.path if one.external_id and sees(one.team_id) else "", one.account or "",
            len(one.gpu_ids), one.start, one.end, (one.end or now) - one.start,
        )
        for one in places
    ]  # fmt: skip


def traced_rows(gpus: Sequence[Traced], limit: int) -> list[ActivityRow]:
    """Make lines of the picture, the ``limit`` busiest of more; each named after its machine and number there.

    The margin holds eight characters: one machine is not named, several are by what tells them apart.
    """
    seen: Counter[str] = Counter()
    names = {one.gpu.name for one in gpus}
    rows = []
    for one in gpus:
        name = one.gpu.name
        label = f"{_short(name, names)} {seen[name]}" if name and len(names) > 1 else f"GPU {seen[name]}"
        rows.append((one, ActivityRow(label, one.peaks, _("max %(share)s") % {"share": percent(one.highest)})))
        seen[name] += 1
    if len(rows) > limit:
        rows = sorted(rows, key=lambda row: -(row[0].highest if row[0].highest is not None else -1.0))[:limit]
    return [row for _one, row in rows]


def _short(name: str, names: Collection[str]) -> str:
    least, most = min(names), max(names)
    same = next((at for at, pair in enumerate(zip(least, most, strict=False)) if pair[0] != pair[1]), len(least))
    own = name[len(least[:same].rstrip("0123456789")) :] or name
    return own if len(own) <= 5 else f"…{own[-4:]}"
