"""What hours and findings say of machines: money of the month, use of seven days, open findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from billing.queries.list_sql import money_by_currency, named, read
from common.money import plain
from people.roles import TeamChoice

USED_DAYS = 7
_SEEN_MS = "d.working_ms + d.low_ms + d.held_ms + d.empty_ms"


@dataclass(frozen=True)
class Figures:
    """``month``: by currency. ``used_pct``: working, of the GPU-hours seen in seven days. ``findings``: open kinds."""

    month: Mapping[str, Decimal] = field(default_factory=dict)
    unpriced_month: bool = False
    used_pct: float | None = None
    findings: tuple[str, ...] = ()


class MachineFigures:
    """Figures of the hours that ``choice`` may see; ``month``: its first local day.

    ``values``: the parameters of a question that these are a part of, to which theirs are added.
    """

    def __init__(self, choice: TeamChoice, month: date, today: date, values: dict[str, Any] | None = None) -> None:
        self._values: dict[str, Any] = {} if values is None else values
        self._values |= {"month": month, "today": today, "week": today - timedelta(days=USED_DAYS - 1)}
        self._of_team = named(*choice.condition("d.team_id"), "t", self._values)
        self._of_finding = named(*choice.condition("f.team_id"), "f", self._values)

    def of(self, ids: Sequence[int]) -> dict[int, Figures]:
        """Give the figures of these machines, in one question."""
        if not ids:
            return {}
        self._values["ids"] = list(ids)
        only = "AND {}.instance_id = ANY(%(ids)s)"
        query = f"""WITH month AS ({self.month(only.format("d"))}), used AS ({self.used(only.format("d"))}),
                found AS ({self.found(only.format("f"))})
            SELECT i.id, (SELECT jsonb_object_agg(currency, cost::text) FROM month m
                          WHERE m.instance_id = i.id AND m.has_price),
                   (SELECT bool_or(is_unpriced) FROM month m WHERE m.instance_id = i.id), u.used_pct, f.kinds
            FROM unnest(%(ids)s::bigint[]) i(id) LEFT JOIN used u ON u.instance_id = i.id
            LEFT JOIN found f ON f.instance_id = i.id"""
        return {
            pk: Figures(
                money_by_currency(month), bool(unpriced), None if used is None else float(used), tuple(kinds or ())
            )
            for pk, month, unpriced, used, kinds in read(query, self._values)
        }

    def documents(self, ids: Sequence[int]) -> dict[int, dict[str, Any]]:
        """Give month and use as the API writes them; what is known already from elsewhere is left out."""
        return {
            pk: {
                "month_cost": {currency: plain(amount) for currency, amount in one.month.items()},
                "month_has_unpriced": one.unpriced_month,
                "used_pct": one.used_pct,
            }
            for pk, one in self.of(ids).items()
        }

    def month(self, only: str) -> str:
        """Give the SELECT of the month's money; ``only``: a further condition on d."""
        return f"""SELECT d.instance_id, d.currency, sum(d.cost) AS cost,
                sum(d.cost) > 0 OR sum(d.unpriced_ms + d.unpriced_disk_hours) = 0 AS has_price,
                sum(d.unpriced_ms + d.unpriced_disk_hours) > 0 AS is_unpriced
            FROM billing_machinemonth d WHERE d.month = %(month)s AND {self._of_team} {only} GROUP BY 1, 2"""

    def used(self, only: str) -> str:
        """Give the SELECT of the use of seven days; ``only``: a further condition on d."""
        return f"""SELECT d.instance_id,
                round(100.0 * sum(d.working_ms + d.low_ms) / nullif(sum({_SEEN_MS}), 0), 2) AS used_pct
            FROM billing_machineday d WHERE d.day >= %(week)s AND d.day <= %(today)s AND {self._of_team} {only}
            GROUP BY 1"""

    def found(self, only: str) -> str:
        """Give the SELECT of open findings; ``only``: a further condition on f."""
        return f"""SELECT f.instance_id, count(*) AS n, array_agg(DISTINCT f.kind) AS kinds FROM fleet_finding f
            WHERE f.closed_at IS NULL AND (f.subject_kind <> 'job' OR {self._of_finding}) {only} GROUP BY 1"""
