"""Print what was spent in a period, by any grouping."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandParser

from billing.domain.spend_asked import read_asked
from billing.queries.spend import spend
from common.commands import DoorCommand
from common.periods import Period
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
        asked = read_asked(options, organization().time_zone)
        period = asked.period
        end = period.end if at is None else max(period.start, min(period.end, at))
        found = spend(
            Period(period.start, end), group_by=asked.group_by, zone=asked.zone, basis=asked.basis, cut=asked.cut
        )
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
