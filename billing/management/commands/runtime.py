"""Print the run-time ledger of a month."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.core.management.base import CommandParser

from billing.queries.runtime import runtime
from common.commands import DoorCommand
from common.periods import Period, month_period
from people.queries import organization_zone


class Command(DoorCommand):
    """`runtime --month M`."""

    help = "Every instance of a month: when it ran, for how many hours, what that cost."
    takes_time = True

    def add_options(self, parser: CommandParser) -> None:
        """Add the month."""
        parser.add_argument("--month", required=True, help="like 2025-06, in the organisation's zone")

    def answer(self, *, at: datetime | None, options: dict[str, Any]) -> Any:
        """Read and answer. With --at nothing after it counts."""
        period = month_period(options["month"], organization_zone())
        end = period.end if at is None else max(period.start, min(period.end, at))
        return [one.as_json() for one in runtime(Period(period.start, end))]

    def text(self, answer: Any) -> str:
        """Show a table: instance, hours, provisional cost."""
        return "\n".join(
            f"{(one['account'] or '-') + '/' + one['instance']:<48} {one['hours']:>12} h"
            f" {one['provisional'] or 'unpriced':>16} {one['currency']}"
            for one in answer
        )
