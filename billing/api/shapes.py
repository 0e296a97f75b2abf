"""Shapes of `billing`'s answers (doors.md, `spend` and `runtime`)."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from billing.domain.spend import KINDS, STATES, TIMES
from people.api.shapes import amount, amounts, flag, link, mapping, moment, number, text, whole

ByKindShape = amounts("ByKindShape", ("compute", *KINDS), null=True)
ByStateShape = amounts("ByStateShape", STATES, null=True)
GpuHoursShape = amounts("GpuHoursShape", TIMES, null=False)


class PeriodShape(serializers.Serializer[Any]):
    """Half-open."""

    start = moment()
    end = moment()
    time_zone = text()


class SpendRowShape(serializers.Serializer[Any]):
    """One group in one currency; null amounts: nothing of it has a price."""

    key = mapping("the groupings", of=text(null=True))
    special = text("unassigned, where there is no team", null=True)
    currency = text()
    gross = amount(null=True)
    credits = amount()
    billed = amount()
    provisional = amount(null=True)
    total = amount(null=True)
    by_kind = ByKindShape()
    by_state = ByStateShape()
    gpu_hours = GpuHoursShape()
    unpriced_gpu_hours = amount()
    unpriced_disk_hours = whole()
    list_price = amount("the part that rests on suggested prices")


class SpendShape(serializers.Serializer[Any]):
    """Spend; the rows of all pages sum to the totals exactly."""

    period = PeriodShape()
    basis = text()
    cut = text()
    rows = SpendRowShape(many=True)
    totals = mapping("by currency, of all pages", of=amount())
    billed_share_pct = number()
    next = link("the next page; null at the end")


class IntervalShape(serializers.Serializer[Any]):
    """A run of one provider state."""

    start = moment()
    end = moment()
    state = text()


class RuntimeShape(serializers.Serializer[Any]):
    """An instance in a month, in one currency."""

    instance = text()
    account = text(null=True)
    intervals = IntervalShape(many=True)
    hours = amount()
    provisional = amount(null=True)
    billed = amount()
    difference = amount(null=True)
    currency = text()


class PriceShape(serializers.Serializer[Any]):
    """A price; null matches anything."""

    id = whole()
    provider = text(null=True)
    sku = text(null=True)
    gpu_model = text(null=True)
    gpu_count = whole(null=True)
    region = text(null=True)
    purchase_option = text(null=True)
    unit = text("instance_hour, gpu_hour or gb_month")
    price = amount()
    currency = text()
    valid_from = moment()
    valid_to = moment(null=True)
    source = text()
    source_date = serializers.DateField(allow_null=True)
    is_suggested = flag("from the shipped price book; a declared one wins")
