"""What the address of a page of machines asks for: team, account, GPU model, region, state, what is not seen, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from django.http import Http404, QueryDict
from django.utils.translation import gettext as _

from common.code_words import word_of
from common.errors import BadInput
from common.periods import STEP, Period, floor_mark
from common.state_words import STATE_WORDS
from fleet.domain.machine_filter import GPUS_MISSING, NONE, NOT_SEEN, SEEN_CHOICES, STATES, MachineFilter
from fleet.domain.states import FindingKind
from fleet.queries.machines import MachineChoices
from people.roles import TeamChoice
from people.visitor import Visitor

NAMES = ("team", "exact", "account", "model", "region", "state", "seen", "finding")
LONGEST = 420


@dataclass(frozen=True)
class Chosen:
    """``teams``: whose machines; ``asked``: which of them; ``values``: the filters as they stand in the address."""

    teams: TeamChoice
    asked: MachineFilter
    values: Mapping[str, str]

    @property
    def is_narrowed(self) -> bool:
        """Whether any filter is set."""
        return any(self.values.values()) or bool(self.asked.words)


def read_team(team: str, visitor: Visitor, *, alone: bool = False) -> TeamChoice:
    """Give the rows that a team filter chooses, ``alone``: without its sub-teams.

    Another's team is as unknown as one that does not exist.
    """
    if not team:
        return visitor.everything
    if team == NONE and visitor.sees_all:
        return TeamChoice(frozenset(), unassigned=True)
    found = visitor.team_named(team)
    if found is None:
        raise Http404
    return TeamChoice(frozenset({found.id}) if alone else visitor.team_and_below(found), unassigned=False)


def read_machines(params: Mapping[str, str], visitor: Visitor, words: Sequence[str] = ()) -> Chosen:
    """Read the filters. Raises BadInput (bad_filter) for a state or kind there is not, Http404 for another's team."""
    values = {name: params.get(name, "").strip() for name in NAMES}
    for name, value in values.items():
        if len(value) > LONGEST or "\x00" in value:
            raise BadInput("bad_filter", f"{name}: this value is too long.", hint="Choose one from the list.")
    for name, known in (("state", STATES), ("seen", SEEN_CHOICES), ("finding", tuple(FindingKind))):
        if values[name] and values[name] not in known:
            hint = f"There are: {', '.join(known)}."
            raise BadInput("bad_filter", f"{name}: there is no {values[name]!r}.", hint=hint)
    asked = MachineFilter(**{name: values[name] for name in NAMES if name not in ("team", "exact")}, words=tuple(words))
    return Chosen(read_team(values["team"], visitor, alone=bool(values["exact"])), asked, values)


def machine_filters(chosen: Chosen, choices: MachineChoices, visitor: Visitor) -> list[dict[str, Any]]:
    """Give the bar of filters as `kit/filters.html` draws it; a value that no machine has any more is still shown."""
    teams = [(team.name, team.name) for team in visitor.teams.values()]
    if visitor.sees_all:
        teams.append((NONE, _("Unassigned")))
    accounts = [(name, name) for name in choices.accounts]
    if choices.has_unknown_hosts:
        accounts.append((NONE, _("no account")))
    bars: list[tuple[str, str, list[tuple[str, str]]]] = [
        ("team", _("Team"), teams),
        ("account", _("Account"), accounts),
        ("model", _("GPU"), [(name, name) for name in choices.models]),
        ("region", _("Region"), [(name, name) for name in choices.regions]),
        ("state", _("State"), [(str(name), str(STATE_WORDS[name])) for name in STATES]),
        ("seen", _("Seen"), [(NOT_SEEN, _("not seen")), (GPUS_MISSING, _("GPUs missing"))]),
    ]
    if chosen.values["exact"]:
        bars.insert(1, ("exact", _("Sub-teams"), [("1", _("left out"))]))
    if chosen.values["finding"]:
        kind = chosen.values["finding"]
        bars.append(("finding", _("Finding"), [(kind, word_of("finding", kind))]))
    return [
        {"name": name, "label": label, "value": chosen.values[name], "options": [("", _("All")), *options]}
        for name, label, options in bars
        if options or chosen.values[name]
    ]


def address(params: QueryDict, **changes: str | Sequence[str]) -> str:
    """Give the address (from ``?`` on) with some parameters changed; "" drops one."""
    asked = params.copy()
    for name, value in changes.items():
        values = [value] if isinstance(value, str) else list(value)
        asked.setlist(name, [one for one in values if one])
    for name in ("as", "page"):
        if name not in changes:
            asked.pop(name, None)
    return f"?{asked.urlencode()}"


@dataclass(frozen=True)
class Span:
    """The period that a page is about. ``key``: 24h, 7d, 30d, or "" for one of its own."""

    key: str
    period: Period


SPANS = {"24h": timedelta(hours=24), "7d": timedelta(days=7), "30d": timedelta(days=30)}
LONGEST_SPAN = timedelta(days=800)


def read_span(params: Mapping[str, str], visitor: Visitor) -> Span:
    """Read ``period``, or ``since`` and ``until``; a time without a zone is one of the organisation's.

    Raises BadInput: bad_period, bad_time.
    """
    end = floor_mark(visitor.now)
    if params.get("since"):
        since = _time(params["since"], "since", visitor)
        until = min(_time(params["until"], "until", visitor), end) if params.get("until") else end
        if not timedelta(0) < until - since <= LONGEST_SPAN:
            hint = f"It must end after it starts, and be no longer than {LONGEST_SPAN.days} days."
            raise BadInput("bad_period", "since, until: this is no period that can be shown.", hint=hint)
        return Span("", Period(floor_mark(since), max(floor_mark(until), floor_mark(since) + STEP)))
    key = params.get("period", "") or "24h"
    if key not in SPANS:
        raise BadInput("bad_period", f"period: there is no {key[:40]!r}.", hint=f"There are: {', '.join(SPANS)}.")
    return Span(key, Period(end - SPANS[key], end))


def _time(text: str, name: str, visitor: Visitor) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        hint = "Write 2025-06-03, 2025-06-03T11:00 or 2025-06-03T11:00:00Z."
        raise BadInput("bad_time", f"{name}: {text[:40]!r} is no time.", hint=hint) from None
    return (moment if moment.tzinfo else moment.replace(tzinfo=visitor.house.zone)).astimezone(UTC)
