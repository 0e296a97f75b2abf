"""The map of the fleet as a page shows it: groups of machines, each machine a strip of GPUs or one cell."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from common.state_words import STATE_WORDS
from fleet.domain.machine_filter import NONE
from fleet.domain.ports import HourlyPrice
from fleet.domain.states import IDLE
from fleet.queries.fleet_map import MachineCells

MOST_CELLS = 2_000  # more can't be told apart, and a page must not grow with the fleet
SHOWN_STATES = ("working", "held", "empty", "unknown", "stopped", "warm_up")
# Of several states the one that wants an eye first stands for the machine.
WORST_FIRST = ("held", "empty", "unknown", "warm_up", "stopped", "working")
GPUS, MACHINES, CLOSED = "gpus", "machines", "closed"
NAME_FITS = 12
_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True)
class Standing:
    """GPUs and machines in one state; money is what whole machines in it cost an hour, without the ``unpriced``."""

    state: str
    gpus: int = 0
    machines: int = 0
    per_hour: Mapping[str, Decimal] = field(default_factory=dict)
    unpriced: int = 0
    share_pct: float | None = None


@dataclass(frozen=True)
class Group:
    """Some machines. ``key``: as it stands in the address; ``level``: how they are drawn; ``cut``: how many are not."""

    key: str
    name: str
    note: str
    level: str
    machines: int
    gpus: int
    by_state: Mapping[str, int]
    idle_per_hour: Mapping[str, Decimal]
    idle_unpriced: int
    not_seen: int
    missing: int
    drawn: SafeString
    cut: int
    is_open: bool
    can_open: bool


@dataclass(frozen=True)
class Gaps:
    """``not_seen``: machines that run unseen; ``short``: machines that miss some GPUs, ``missing`` in all."""

    not_seen: int
    short: int
    missing: int


def level_of(machines: Sequence[MachineCells]) -> str:
    """Say how a fleet is drawn: every GPU, every machine, or only groups."""
    if sum(len(one.cells) for one in machines) <= MOST_CELLS:
        return GPUS
    return MACHINES if len(machines) <= MOST_CELLS else CLOSED


def standings(machines: Sequence[MachineCells], prices: Mapping[int, HourlyPrice]) -> list[Standing]:
    """Count GPUs and machines by state, with the money an hour of the machines; warm-up only where there is some."""
    gpus: Counter[str] = Counter()
    found: dict[str, list[MachineCells]] = defaultdict(list)
    for one in machines:
        gpus.update(_counts(one.cells))
        found[one.state].append(one)
    total = sum(gpus.values())
    listed = []
    for state in SHOWN_STATES:
        own = found.get(state, [])
        if state == "warm_up" and not own and not gpus[state]:
            continue
        money, unpriced = _per_hour(own, prices)
        share = 100 * gpus[state] / total if total else None
        listed.append(Standing(state, gpus[state], len(own), money, unpriced, share))
    return listed


def gaps_of(machines: Iterable[MachineCells]) -> Gaps:
    """Count what is not seen."""
    unseen = short = missing = 0
    for one in machines:
        if one.is_not_seen:
            unseen += 1
        elif one.missing:
            short, missing = short + 1, missing + one.missing
    return Gaps(unseen, short, missing)


def groups_of(
    machines: Sequence[MachineCells],
    prices: Mapping[int, HourlyPrice],
    key_of: Callable[[MachineCells], str],
    name_of: Callable[[str], str],
    opened: Sequence[str],
) -> list[Group]:
    """Group the machines, the largest group first, what has no name last; draw each as far as there is room."""
    level = level_of(machines)
    found: defaultdict[str, list[MachineCells]] = defaultdict(list)
    for one in sorted(machines, key=lambda machine: natural(machine.external_id)):
        found[key_of(one)].append(one)
    order = sorted(found, key=lambda key: (key == NONE, -sum(len(one.cells) for one in found[key]), key))
    return [_group(key, name_of(key), found[key], prices, _Drawing(level, key in opened)) for key in order]


@dataclass(frozen=True)
class _Drawing:
    """How the whole fleet is drawn, and whether this group was opened."""

    whole: str
    is_open: bool

    def level(self, gpus: int) -> str:
        """Say how a group of so many GPUs is drawn."""
        if self.whole == GPUS or not self.is_open:
            return self.whole
        return GPUS if gpus <= MOST_CELLS else MACHINES


def _group(
    key: str, name: str, machines: Sequence[MachineCells], prices: Mapping[int, HourlyPrice], drawing: _Drawing
) -> Group:
    counts: Counter[str] = Counter()
    for one in machines:
        counts.update(_counts(one.cells))
    level = drawing.level(sum(counts.values()))
    gaps = gaps_of(machines)
    models = Counter(one.model for one in machines if one.model)
    shown = () if level == CLOSED else machines[:MOST_CELLS]
    idle, unpriced = _per_hour([one for one in machines if one.state in IDLE], prices)
    return Group(
        key=key,
        name=name,
        note=", ".join(model for model, _n in models.most_common(3)),
        level=level,
        machines=len(machines),
        gpus=sum(counts.values()),
        by_state={state: counts[state] for state in SHOWN_STATES if counts[state]},
        idle_per_hour=idle,
        idle_unpriced=unpriced,
        not_seen=gaps.not_seen,
        missing=gaps.missing,
        drawn=format_html_join("", "{}", ((_strip(one) if level == GPUS else _cell(one),) for one in shown)),
        cut=len(machines) - len(shown) if level != CLOSED else 0,
        is_open=drawing.is_open,
        can_open=drawing.whole != GPUS,
    )


def _per_hour(machines: Iterable[MachineCells], prices: Mapping[int, HourlyPrice]) -> tuple[dict[str, Decimal], int]:
    money: dict[str, Decimal] = {}
    unpriced = 0
    for one in machines:
        price = prices.get(one.id)
        if price is not None:
            money[price.currency] = money.get(price.currency, Decimal(0)) + price.per_hour
        elif one.is_billed:
            unpriced += 1
    return money, unpriced


@lru_cache(maxsize=4096)
def _counts(cells: tuple[str, ...]) -> Mapping[str, int]:
    return Counter(cells)


def _strip(one: MachineCells) -> SafeString:
    """A machine as its name and a strip of its GPUs; the name is bold when it is idle or not seen whole."""
    flag = "flag" if one.state in IDLE or one.missing or one.state == "unknown" else ""
    label = f"{one.external_id}: {_label(one.cells, get_language())}"
    return format_html(
        '<li><a class="{}" href="{}" title="{}" aria-label="{}"><span>{}</span>{}</a></li>',
        flag, one.path, label, label, short_name(one.external_id), _cells(one.cells),
    )  # fmt: skip


def _cell(one: MachineCells) -> SafeString:
    """A machine as one cell: its state, or of several the worst one, drawn as mixed."""
    label = f"{one.external_id}: {_label(one.cells, get_language())}"
    css = _worst(one.cells or (one.state,))
    return format_html(
        '<li><a class="dot {}" href="{}" title="{}" aria-label="{}"></a></li>', css, one.path, label, label
    )


@lru_cache(maxsize=4096)
def _worst(cells: tuple[str, ...]) -> str:
    state = next(state for state in WORST_FIRST if state in cells)
    return state if len(set(cells)) == 1 else f"mixed {state}"


@lru_cache(maxsize=4096)
def _cells(cells: tuple[str, ...]) -> SafeString:
    return format_html(
        '<span class="cells">{}</span>', format_html_join("", '<i class="{}"></i>', ((state,) for state in cells))
    )


@lru_cache(maxsize=4096)
def _label(cells: tuple[str, ...], _language: str | None) -> str:
    """Say how many GPUs are in which state."""
    counts = Counter(cells)
    return ", ".join(f"{STATE_WORDS[state]} {counts[state]}" for state in SHOWN_STATES if counts[state]) or "—"


def natural(name: str) -> list[tuple[int, str]]:
    """Give what names are sorted by so that node-9 stands before node-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in _DIGITS.split(name)]


def short_name(name: str) -> str:
    """Shorten a name to what fits beside its strip: its beginning and its end tell machines of a group apart."""
    if len(name) <= NAME_FITS:
        return name
    return f"{name[:4]}…{name[-(NAME_FITS - 5) :]}"
