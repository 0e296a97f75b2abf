"""One's own saved views."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from common.clock import real_now
from common.errors import BadInput
from common.listed import listed
from common.listing import Column, TableSpec, read_listing
from common.refusal_words import told
from people.actions.saved_views import remove_view, rename_view, save_view
from people.queries.saved_views import views_of
from people.visitor import Visitor, signed_in

VIEWS = TableSpec(
    "views",
    (
        Column("name", _("Name"), template="people/_view_name.html"),
        Column("path", _("Address"), "code", desk=True),
        Column("created_at", _("Saved"), "moment", desk=True),
        Column("acts", "", sortable=False, template="people/_view_acts.html", in_file=False),
    ),
    default_sort="name",
    row_id="id",
)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def saved_views(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """List one's views; save one, rename, remove."""
    wrong = ""
    if request.method == "POST":
        try:
            _act(request, visitor)
        except BadInput as error:
            wrong = told(error)
        else:
            return redirect("saved_views")
    path = request.POST.get("path") or request.GET.get("save", "")
    context: dict[str, Any] = {
        "visitor": visitor, "table": listed(views_of(visitor.user), read_listing(request.GET, VIEWS)), "wrong": wrong,
        "path": path, "name": request.POST.get("name", ""), "site": f"{request.scheme}://{request.get_host()}",
    }  # fmt: skip
    return render(request, "people/saved_views.html", context, status=400 if wrong else 200)


def _act(request: HttpRequest, visitor: Visitor) -> None:
    asked, now = request.POST, real_now()
    match asked.get("act"):
        case "save":
            save_view(now=now, by=visitor.user, name=asked.get("name", ""), path=asked.get("path", ""))
        case "rename":
            rename_view(now=now, by=visitor.user, view_id=_number(asked.get("view", "")), name=asked.get("name", ""))
        case "remove":
            remove_view(now=now, by=visitor.user, view_id=_number(asked.get("view", "")))
        case _:
            raise BadInput("bad_choice", "This is nothing that can be done here.", hint="Use the buttons of the page.")


def _number(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise BadInput("unknown_view", "There is no such saved view.", hint="Open the list of saved views.")
    return int(text)
