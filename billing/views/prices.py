"""Prices: every one with what it prices now, what has none, and the form that sets one."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect, QueryDict
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from billing.actions.declare_prices import KEY
from billing.actions.set_price import NewPrice, end_price, set_price
from billing.forms import PriceForm
from billing.queries.price_page import prices_in_use
from billing.tables.price_lines import PRICES, price_lines
from common.errors import BadInput, Refused
from common.exports import file_answer
from common.listed import arranged, listed
from common.listing import read_listing
from common.periods import day_start, local_day
from people.roles import Right
from people.visitor import Visitor, signed_in

PREFILLED = ("provider", "sku", "gpu_model", "gpu_count", "region", "purchase_option", "unit")


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def prices(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    """Show all prices to who sees the whole organisation; admins and finance set and end what no file manages."""
    if not visitor.sees_all or (request.method == "POST" and not visitor.can(Right.SET_PRICES)):
        return render(request, "403.html", status=403)
    if request.method == "POST":
        return _act(request, visitor)
    first = {name: request.GET[name] for name in PREFILLED if request.GET.get(name)}
    today = local_day(visitor.now, visitor.house.zone)
    form = PriceForm(initial={"currency": visitor.house.currency, "valid_from": today.isoformat(), **first})
    return _page(request, visitor, request.GET, form)


def _page(
    request: HttpRequest, visitor: Visitor, params: QueryDict, form: PriceForm, *, refusal: str = "", status: int = 200
) -> HttpResponseBase:
    asked = read_listing(params, PRICES)
    found = prices_in_use(visitor.now)
    rows = price_lines(found, visitor.now)
    if asked.as_file:
        return file_answer(PRICES, arranged(rows, asked), asked, "prices", zone=visitor.house.zone)
    kinds: dict[Any, list[Any]] = {}
    for machine, subject in found.unpriced:
        kinds.setdefault(subject, []).append(machine)
    context: dict[str, Any] = {
        "nav": "prices", "visitor": visitor, "table": listed(rows, asked), "form": form, "refusal": refusal,
        "unpriced": [_unpriced(subject, machines) for subject, machines in kinds.items()],
        "unpriced_count": len(found.unpriced), "may_set": visitor.can(Right.SET_PRICES), "done": params.get("done", ""),
        "overlapping": sum(bool(one.overlaps) for one in found.prices),
        "is_open": bool(refusal or form.is_bound or any(params.get(name) for name in PREFILLED)),
    }  # fmt: skip
    return render(request, "billing/prices.html", context, status=status)


def _unpriced(subject: Any, machines: list[Any]) -> dict[str, Any]:
    query = QueryDict(mutable=True)
    for name in ("provider", "sku", "gpu_model", "purchase_option"):
        if getattr(subject, name):
            query[name] = getattr(subject, name)
    query["unit"] = "gpu_hour"
    return {"subject": subject, "machines": machines, "query": query.urlencode()}


def _act(request: HttpRequest, visitor: Visitor) -> HttpResponseBase:
    form, act = PriceForm(request.POST if request.POST.get("act") == "set" else None), request.POST.get("act", "")
    try:
        if act == "set":
            if not form.is_valid():
                return _page(request, visitor, QueryDict(), form, status=400)
            _set(form, visitor)
            return HttpResponseRedirect(f"{reverse('prices')}?done=set")
        if act == "end":
            number = request.POST.get("price", "")
            is_number = number.isascii() and number.isdigit() and len(number) < 19
            end_price(now=visitor.now, by=visitor.user.email, price_id=int(number) if is_number else 0)
            return HttpResponseRedirect(f"{reverse('prices')}?done=ended")
    except Refused as error:
        return _page(request, visitor, QueryDict(), form, refusal=f"{error.message} {error.hint}", status=409)
    raise BadInput("bad_choice", "act: there is no such act.", hint="There are: set, end.")


def _set(form: PriceForm, visitor: Visitor) -> None:
    zone, data = visitor.house.zone, form.cleaned_data
    today = local_day(visitor.now, zone)
    new = NewPrice(
        {name: data.get(name) for name in KEY}, data["price"], day_start(data["valid_from"], zone),
        day_start(data["valid_to"], zone) if data["valid_to"] else None, data["source"], today,
    )  # fmt: skip
    month_start = day_start(today - timedelta(days=today.day - 1), zone)
    set_price(
        now=visitor.now, by=visitor.user.email, new=new, month_start=month_start, moves_past=data["moves_past"]
    )  # fmt: skip
