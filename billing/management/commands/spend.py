"""Print what was spent in a period, by any grouping."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.core.management.base import CommandParser

from billing.domain.spend import BASES, CUTS, read_groupings
from billing.queries.spend import spend
from common.commands import DoorCommand
from common.errors import BadInput
from common.periods import Period, day_start, month_period, parse_moment
from people.queries import organization


class Command(DoorCommand):
    """`spend (--month M | --since D --until D) [--group-by ...] [--basis ...] [--cut ...] [--time-zone Z]`."""

    help = "Spend of a month or period by team, owner, instance, day ...: rows sum to the totals exactly."
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add the period and how it is cut."""
        parser.add_argument("--month", help="like 2025-06, in the zone")
        parser.add_argument("--since", help="a date (the start of that day in the zone) or a whole hour")
        parser.add_argument("--until", help="likewise; the period ends before it")
        parser.add_argument("--group-by", default="team", help="team, owner, instance, day ..., several with commas")
        parser.add_argument("--basis", default="effective", help="effective (amortised) or billed (cash)")
        parser.add_argument("--cut", default="usage", help="usage (by when it ran) or invoice (by billing period)")
        parser.add_argument("--time-zone", help="cuts days and months; the organisation's when absent")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Read and answer. With --at nothing after it counts."""
        zone = read_zone(options["time_zone"])
        period = read_period(options, zone)
        basis = read_choice("basis", options["basis"], BASES)
        cut = read_choice("cut", options["cut"], CUTS)
        groupings = read_groupings(options["group_by"])
        end = period.end if at is None else max(period.start, min(period.end, at))
        found = spend(Period(period.start, end), group_by=groupings, zone=zone, basis=basis, cut=cut)
        answer = found.as_json()
        answer["period"]["end"] = period.end.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        return answer

    def text(self, answer: Any) -> str:
        """Show a table: key, total, currency, GPU-hours held or empty."""
        lines = []
        for row in answer["rows"]:
            name = " / ".join(str(value) if value is not None else "-" for value in row["key"].values()) or "all"
            total = "unpriced" if row["total"] is None else f"{row['total']} {row['currency']}"
            lines.append(f"{row['special'] or name:<40} {total:>24}")
        lines += [f"{'total':<40} {amount + ' ' + currency:>24}" for currency, amount in answer["totals"].items()]
        return "\n".join(lines)


def read_zone(name: str | None) -> ZoneInfo:
    """Read a zone's name (None: the organisation's); raises BadInput (bad_time_zone)."""
    try:
        return ZoneInfo(name or organization().time_zone)
    except (KeyError, ValueError, OSError):
        raise BadInput("bad_time_zone", f"--time-zone: {name!r} is no zone.", hint="Write Europe/Berlin.") from None


def read_period(options: dict[str, Any], zone: ZoneInfo) -> Period:
    """Read --month, or --since and --until; raises BadInput (bad_period and those of the parts)."""
    month, since, until = options.get("month"), options.get("since"), options.get("until")
    if month and (since or until):
        raise BadInput("bad_period", "Both --month and --since or --until are given.", hint="Give one of them.")
    if month:
        return month_period(month, zone)
    if not since or not until:
        raise BadInput("bad_period", "No period is given.", hint="Give --month 2025-06, or --since and --until.")
    return Period(_read_bound(since, zone, "--since"), _read_bound(until, zone, "--until"))


def _read_bound(text: str, zone: ZoneInfo, key: str) -> datetime:
    """Read a date as the start of that day in the zone, or a whole hour."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text.strip()):
        try:
            return day_start(date.fromisoformat(text.strip()), zone)
        except ValueError:
            raise BadInput("bad_time", f"{key}: {text!r} is no date.", hint="Write 2025-06-03.") from None
    moment = parse_moment(text, key=key)
    if (moment.minute, moment.second, moment.microsecond) != (0, 0, 0):
        raise BadInput("bad_time", f"{key}: {text!r} is no whole hour.", hint="Costs are kept by the hour.")
    return moment


def read_choice(name: str, value: str, allowed: tuple[str, ...]) -> str:
    """Check an option with few values; raises BadInput (bad_choice)."""
    if value not in allowed:
        raise BadInput("bad_choice", f"--{name}: there is no {value!r}.", hint=f"There are: {', '.join(allowed)}.")
    return value
