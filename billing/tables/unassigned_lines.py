"""Rows of the queue of what has no team: age, cost, why no rule fits, whose it might be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from billing.domain.month_spend import MonthSpend
from common.cells import Badge, Kind, Link, Money
from common.code_words import word_of
from common.listing import Column, TableSpec
from common.words import colon, comma, semicolon
from fleet.domain.ownership import NAMESPACE_RULE, lookup
from fleet.domain.ports import HourlyPrice
from fleet.domain.suggestions import Suggestion, suggest
from fleet.queries.unassigned import Unclaimed
from people.queries import TeamName

UNASSIGNED = TableSpec(
    "unassigned",
    (
        Column("name", pgettext_lazy("thing", "What"), Kind.LINK),
        Column("kind", gettext_lazy("Kind"), Kind.BADGE, desk=True),
        Column("age", gettext_lazy("Age"), Kind.SPAN),
        Column("spent", gettext_lazy("Cost, 92 days"), Kind.MONEY, total=True),
        Column("price", gettext_lazy("Costs now"), Kind.PER_HOUR, desk=True, template="billing/_rate.html"),
        Column("why", gettext_lazy("Why it has no team"), sortable=False, desk=True, in_page=False),
        Column("hint", gettext_lazy("Whose it might be"), sortable=False, template="billing/_suggestion.html"),
    ),
    "-spent",
    page_size=25,
    row_id="key",
)


@dataclass(frozen=True)
class QueueLine:
    """A thing without a team in one currency; ``suggestions``: only of teams that the reader may see."""

    thing: Unclaimed
    age: timedelta | None
    spent: Money
    price: Money | None
    why: str
    suggestions: Sequence[Suggestion]
    reasons: Sequence[tuple[str, str]]  # team, why

    @property
    def key(self) -> str:
        """A stable name."""
        return f"{self.thing.kind}-{self.thing.id}"

    @property
    def name(self) -> Link:
        """What it is called, leading to its record."""
        place = self.thing.account or _("no account knows it")
        if self.thing.kind == "job":
            place = _("on %(machine)s") % {"machine": self.thing.instance_name}
        return Link(self.thing.name, self.thing.path, place)

    @property
    def kind(self) -> Badge:
        """Machine, unknown host or job."""
        if self.thing.kind == "job":
            return Badge(_("job"), key="job")
        return (
            Badge(_("unknown host"), "warn", key="unknown_host")
            if self.thing.is_unknown_host
            else Badge(_("machine"), key="instance")
        )

    @property
    def hint(self) -> str:
        """The suggestions in words, for files."""
        return semicolon().join(f"{team}{colon()}{why}" for team, why in self.reasons)


def queue_lines(
    things: Sequence[Unclaimed], *, costs: tuple[Mapping[int, Any], Mapping[int, Any]],
    prices: Mapping[int, HourlyPrice], rules: Sequence[Mapping[str, Any]] | None,
    teams: Mapping[int, TeamName], now: Any, home: str,
) -> list[QueueLine]:  # fmt: skip
    """Make the rows: one per thing and currency it cost something in."""
    by_name = {team.name.casefold(): team.id for team in teams.values()}
    rows = []
    for one in things:
        suggestions = [each for each in suggest(one.clues, by_name) if each.team_id in teams]
        reasons = [(teams[each.team_id].name, reason_of(each)) for each in suggestions]
        price = prices.get(one.instance_id) if one.kind == "instance" else None
        spent = costs[0 if one.kind == "instance" else 1].get(one.id) or {
            price.currency if price else home: MonthSpend()
        }
        for number, (currency, money) in enumerate(sorted(spent.items())):
            rows.append(
                QueueLine(
                    one, now - one.since if one.since else None,
                    Money(None if money.is_unpriced or (money.is_nothing and price is None) else money.total, currency),
                    _rate(one, price) if number == 0 else None, why_not(one, rules, by_name), suggestions, reasons,
                )
            )  # fmt: skip
    return rows


def _rate(one: Unclaimed, price: HourlyPrice | None) -> Money | None:
    if one.kind == "job" or one.running not in {"running", "stopping"}:
        return None
    if price is None:
        return Money(None, "")
    return Money(price.per_hour, price.currency, _("list price") if price.is_list_price else "")


def reason_of(one: Suggestion) -> str:
    """Say what points to a team."""
    words = {"fact": one.fact}
    match one.kind:
        case "tag":
            return _("its tag or label says %(fact)s") % words
        case "jobs":
            return _("jobs of this team run on it")
        case "namespace":
            return _("its namespace is %(fact)s") % words
        case "owner":
            return _("its owner %(fact)s is in this team") % words
        case "host":
            return _("its name %(fact)s holds the team’s") % words
    return ngettext(
        "%(n)s machine of a like name is theirs", "%(n)s machines of a like name are theirs", int(one.fact)
    ) % {"n": one.fact}


def why_not(one: Unclaimed, rules: Sequence[Mapping[str, Any]] | None, teams: Mapping[str, int]) -> str:
    """Say why no rule gives it a team."""
    if rules is None:
        rules = [NAMESPACE_RULE]
    for rule in rules:
        for kind, name in (rule.get("team_from") or {}).items():
            value = lookup(one.tags, name)
            if value and str(value).strip().casefold() in teams:
                return _("A rule names its team by now; the next pass gives it.")
            if value:
                words = {"kind": word_of("rule_key", kind), "name": name, "value": value}
                return _("Its %(kind)s %(name)s says %(value)s, which is no team.") % words
    looked_at = sorted({key for rule in rules for key in _keys(rule)})
    if not looked_at:
        return _("No rule gives anything to a team.")
    return _("No rule fits. They look at: %(keys)s.") % {"keys": comma().join(looked_at)}


def _keys(rule: Mapping[str, Any]) -> list[str]:
    named = [f"{word_of('rule_key', kind)} {name}" for kind, name in (rule.get("team_from") or {}).items()]
    return [*named, *(rule.get("match") or {})]
