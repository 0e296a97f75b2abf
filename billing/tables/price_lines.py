"""Rows of the price list."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext, pgettext_lazy

from billing.queries.price_page import PricesInUse, PriceUse, Running
from common.cells import Badge, Kind, Link, Money
from common.code_words import CODE_WORDS
from common.listing import Column, TableSpec
from common.periods import BEGINNING

PRICES = TableSpec(
    "prices",
    (
        Column("what", pgettext_lazy("thing", "What"), Kind.LINK),
        Column("price", gettext_lazy("Price"), Kind.MONEY, note="per"),
        Column("unit", gettext_lazy("Per"), in_page=False),
        Column("option", gettext_lazy("Way to pay"), desk=True),
        Column("valid_from", gettext_lazy("From"), Kind.MOMENT, desk=True, template="billing/_holds.html"),
        Column("valid_to", gettext_lazy("Until"), Kind.MOMENT, in_page=False),
        Column("source", gettext_lazy("From where"), Kind.LINK, desk=True, note="source_date"),
        Column("source_date", gettext_lazy("Read on"), in_page=False),
        Column("kind", gettext_lazy("Kind"), Kind.BADGE),
        Column("machines", gettext_lazy("Prices now"), Kind.NUMBER, template="billing/_priced_machines.html"),
        Column("act", "", sortable=False, in_file=False, template="billing/_price_act.html"),
    ),
    "-machines",
    page_size=50,
    row_id="id",
)
UNIT_WORDS = {
    "instance_hour": gettext_lazy("instance and hour"),
    "gpu_hour": gettext_lazy("GPU and hour"),
    "gb_month": gettext_lazy("GB and month"),
}
PER_WORDS = {
    "instance_hour": gettext_lazy("per instance and hour"),
    "gpu_hour": gettext_lazy("per GPU and hour"),
    "gb_month": gettext_lazy("per GB and month"),
}


@dataclass(frozen=True)
class PriceLine:
    """A price of the book, or one that inventories tell of their machines; ``running``: what it prices now."""

    id: str
    what: Link
    price: Money
    per: str
    unit: str
    option: str
    valid_from: datetime | None
    valid_to: datetime | None
    source: Link
    source_date: str
    kind: Badge
    running: list[Running]
    may_end: int

    @property
    def machines(self) -> int:
        """How many machines it prices now."""
        return len(self.running)


def price_lines(found: PricesInUse, now: datetime) -> list[PriceLine]:
    """Make the rows: prices of inventories, then those of the book."""
    rows = [
        PriceLine(
            f"inventory-{number}", Link(_("Told by the account")), Money(amount, currency),
            str(PER_WORDS["instance_hour"]), _unit("instance_hour"), "", None, None, Link(_("inventory")), "",
            Badge(_("inventory"), key="inventory"), machines, 0,
        )
        for number, ((amount, currency), machines) in enumerate(sorted(found.inventory.items()))
    ]  # fmt: skip
    return rows + [_line(one, now) for one in found.prices]


def _line(one: PriceUse, now: datetime) -> PriceLine:
    row = one.row
    parts = [
        row.provider,
        row.region,
        ngettext("%(n)d GPU", "%(n)d GPUs", row.gpu_count or 0) % {"n": row.gpu_count} if row.gpu_count else "",
    ]
    name = row.sku or row.gpu_model or _("anything")
    if row.sku and row.gpu_model:
        parts.insert(0, row.gpu_model)
    is_link = row.source.startswith(("https://", "http://"))
    words: Any = CODE_WORDS["purchase"]
    told = str(CODE_WORDS["price_source"].get(row.source, row.source))
    over = row.valid_to is not None and row.valid_to <= now
    return PriceLine(
        f"price-{row.pk}", Link(name, note=" · ".join(part for part in parts if part)),
        Money(row.price, row.currency, _("overlaps another price") if one.overlaps else ""),
        str(PER_WORDS.get(row.unit, "")), _unit(row.unit),
        str(words.get(row.purchase_option, row.purchase_option)) if row.purchase_option else "",
        None if row.valid_from == BEGINNING else row.valid_from, row.valid_to,
        Link(_("list") if is_link else told, row.source if is_link else ""),
        date_format(row.source_date, "DATE_FORMAT") if row.source_date else "", _kind(one, over), list(one.machines),
        0 if row.is_suggested or one.is_managed or over else row.pk,
    )  # fmt: skip


def _kind(one: PriceUse, is_over: bool) -> Badge:
    if is_over:
        return Badge(_("ended"), key="ended")
    if one.row.is_suggested:
        return Badge(_("list price"), key="list")
    if one.is_managed:
        return Badge(_("from fleet.yaml"), "good", key="file")
    return Badge(_("set by hand"), "good", key="hand")


def _unit(unit: str) -> str:
    return str(UNIT_WORDS.get(unit, unit))
