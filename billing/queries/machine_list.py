"""The table of machines: found, sorted, cut and totalled in the database, with what each costs and was used for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from billing.queries.list_sql import CHUNK, Cut, money_by_currency, named, read
from billing.queries.machine_figures import Figures, MachineFigures
from billing.queries.prices_now import listed_prices
from fleet.domain.machine_filter import MachineFilter
from fleet.queries.machines import machines_sql
from fleet.queries.standing import instance_path
from people.roles import TeamChoice

BILLED = "('running', 'stopping', 'stopped_billed')"


@dataclass(frozen=True)
class MachineCost:
    """What a machine costs. ``per_hour`` None: unpriced, or not billed now (``is_billed``). ``month``: by currency.

    ``unpriced_month``: something of the month has no price. ``used_pct``: working, of the GPU-hours seen in seven days.
    ``findings``: kinds that are open.
    """

    id: int
    account: str | None
    external_id: str
    team_id: int | None
    owner: str
    sku: str
    region: str
    model: str
    gpus: int
    state: str
    reason: str
    since: datetime | None
    is_billed: bool
    per_hour: Decimal | None
    currency: str
    is_list_price: bool
    month: Mapping[str, Decimal]
    unpriced_month: bool
    used_pct: float | None
    findings: Sequence[str]

    @property
    def path(self) -> str:
        """The address of its record."""
        return instance_path(self.account, self.external_id)


@dataclass(frozen=True)
class MachineTotals:
    """Of all machines that a filter leaves. ``per_hour`` and ``month`` by currency; ``unpriced``: billed, no price."""

    count: int
    gpus: int
    findings: int
    per_hour: Mapping[str, Decimal]
    unpriced: int
    month: Mapping[str, Decimal]
    unpriced_month: int


SORTS = {
    "name": "lower(m.external_id)",
    "account": "lower(m.account)",
    "team": "lower(t.name)",
    "owner": "nullif(lower(m.owner), '')",
    "state": "array_position(ARRAY['working', 'low', 'held', 'empty', 'unknown', 'stopped', 'warm_up'], m.state)",
    "since": "coalesce(m.since, m.start)",
    "idle_for": "CASE WHEN m.state IN ('held', 'empty') THEN %(now)s - coalesce(m.since, m.start) END",
    "kind": "m.model",
    "region": "nullif(m.region, '')",
    "gpus": "m.gpus",
    "per_hour": "r.currency {way} NULLS LAST, r.per_hour",
    "cost": "c.currency {way} NULLS LAST, c.cost",
    "used": "u.used_pct",
    "findings": "nullif(f.n, 0)",
}


class MachineList:
    """The machines that ``asked`` leaves, as ``choice`` may see them, at ``now``; ``month``: its first local day."""

    def __init__(self, choice: TeamChoice, asked: MachineFilter, now: datetime, month: date, today: date) -> None:
        self._choice, self._asked, self._now = choice, asked, now
        self._values: dict[str, Any] = {"now": now}
        self._figures = MachineFigures(choice, month, today, self._values)
        sql, values = machines_sql(choice, asked)
        self._machine = named(sql, values, "m", self._values)
        self._price_those_without()

    def _price_those_without(self) -> None:
        """Look up what the inventory gives no price for; the book's answers go into the questions as arrays."""
        query = f"""WITH {self._with("machine", "own")}
            SELECT m.id FROM machine m LEFT JOIN own ON own.instance_id = m.id
            WHERE m.provider_state IN {BILLED} AND own.price_per_hour IS NULL"""
        rest = [pk for (pk,) in read(query, self._values)]
        listed = listed_prices(rest, self._now) if rest else {}
        self._values |= {
            "listed": list(listed),
            "listed_price": [one.per_hour for one in listed.values()],
            "listed_currency": [one.currency for one in listed.values()],
            "listed_is_list": [one.is_list_price for one in listed.values()],
        }

    def rows(self, cut: Cut) -> list[MachineCost]:
        """Give some of the machines, sorted."""
        return self._with_figures(self._found_rows(cut))

    def all_rows(self, cut: Cut) -> Iterator[MachineCost]:
        """Give all machines, sorted; what they cost is read piece by piece."""
        found = self._found_rows(Cut(cut.sort, cut.descending))
        for start in range(0, len(found), CHUNK):
            yield from self._with_figures(found[start : start + CHUNK])

    def _found_rows(self, cut: Cut) -> list[tuple[Any, ...]]:
        joins = {"cost": "month", "used": "used", "findings": "found"}
        more = [joins[cut.sort]] if cut.sort in joins else []
        side = {
            "month": "LEFT JOIN (SELECT DISTINCT ON (instance_id) * FROM month ORDER BY instance_id, cost DESC) c"
            " ON c.instance_id = m.id",
            "used": "LEFT JOIN used u ON u.instance_id = m.id",
            "found": "LEFT JOIN found f ON f.instance_id = m.id",
        }
        query = f"""WITH {self._with("machine", "own", "rate", *more)}
            SELECT m.id, m.account, m.external_id, m.team_id, m.owner, m.sku, m.region, m.model, m.gpus, m.state,
                   m.reason, coalesce(m.since, m.start), m.provider_state IN {BILLED}, r.per_hour,
                   coalesce(r.currency, ''), coalesce(r.is_list, FALSE)
            FROM machine m LEFT JOIN rate r ON r.id = m.id LEFT JOIN people_team t ON t.id = m.team_id
            {" ".join(side[name] for name in more)} ORDER BY {cut.order(SORTS)} lower(m.external_id), m.id {cut.page}"""
        return read(query, self._values)

    def _with_figures(self, found: Sequence[tuple[Any, ...]]) -> list[MachineCost]:
        figures = self._figures.of([row[0] for row in found])
        nothing = Figures()
        return [MachineCost(*row, **vars(figures.get(row[0], nothing))) for row in found]

    def totals(self) -> MachineTotals:
        """Count and sum all of them, in one question."""
        query = f"""WITH {self._with("machine", "own", "rate", "month", "found")}
            SELECT (SELECT count(*) FROM machine), (SELECT coalesce(sum(gpus), 0)::bigint FROM machine),
                   (SELECT coalesce(sum(n), 0)::bigint FROM found),
                   (SELECT jsonb_object_agg(currency, total::text) FROM (
                        SELECT currency, sum(per_hour) AS total FROM rate WHERE per_hour IS NOT NULL GROUP BY 1) x),
                   (SELECT count(*) FROM rate WHERE per_hour IS NULL),
                   (SELECT jsonb_object_agg(currency, total::text) FROM (
                        SELECT currency, sum(cost) AS total FROM month WHERE has_price GROUP BY 1) x),
                   (SELECT count(DISTINCT instance_id) FROM month WHERE is_unpriced)"""
        ((count, gpus, findings, per_hour, unpriced, month, unpriced_month),) = read(query, self._values)
        return MachineTotals(
            count, gpus, findings, money_by_currency(per_hour), unpriced, money_by_currency(month), unpriced_month
        )

    def by_state(self) -> dict[str, tuple[int, dict[str, Decimal], int]]:
        """Give state -> (machines, money an hour by currency, billed ones without a price), in one question."""
        query = f"""WITH {self._with("machine", "own", "rate")}
            SELECT m.state, r.currency, count(*), sum(r.per_hour),
                   count(*) FILTER (WHERE r.id IS NOT NULL AND r.per_hour IS NULL)
            FROM machine m LEFT JOIN rate r ON r.id = m.id GROUP BY 1, 2"""
        found: dict[str, tuple[int, dict[str, Decimal], int]] = {}
        for state, currency, count, amount, unpriced in read(query, self._values):
            machines, money, bare = found.get(state, (0, {}, 0))
            if amount is not None:
                money = money | {currency: amount}
            found[state] = (machines + count, money, bare + unpriced)
        return found

    def _with(self, *names: str) -> str:
        within = "AND {}.instance_id IN (SELECT id FROM machine)"
        own = """SELECT DISTINCT ON (p.instance_id) p.instance_id, p.price_per_hour, p.currency
            FROM billing_instanceprice p WHERE p.valid_from <= %(now)s AND p.instance_id IN (SELECT id FROM machine)
            ORDER BY p.instance_id, p.valid_from DESC"""
        rate = f"""SELECT m.id, coalesce(o.price_per_hour, l.price) AS per_hour, o.price_per_hour IS NULL AND l.is_list
                   AS is_list, CASE WHEN o.price_per_hour IS NULL THEN l.currency ELSE o.currency END AS currency
            FROM machine m LEFT JOIN own o ON o.instance_id = m.id
            LEFT JOIN unnest(%(listed)s::bigint[], %(listed_price)s::numeric[], %(listed_currency)s::text[],
                             %(listed_is_list)s::boolean[]) l(id, price, currency, is_list) ON l.id = m.id
            WHERE m.provider_state IN {BILLED}"""
        parts = {
            "machine": self._machine, "own": own, "rate": rate, "month": self._figures.month(within.format("d")),
            "used": self._figures.used(within.format("d")), "found": self._figures.found(within.format("f")),
        }  # fmt: skip
        return ", ".join(f"{name} AS MATERIALIZED ({parts[name]})" for name in names)
