"""The reference as pages."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from config.help import help_page, page_names
from people.visitor import Visitor, signed_in

TITLES = {
    "api": _("REST API"), "channels": _("Channels and routes"), "codes": _("Codes"), "commands": _("Commands"),
    "fleet-yaml": "fleet.yaml", "metrics": _("Metrics"), "money": _("GPU-hours and money"),
    "roles": _("Roles and rights"), "settings": _("Settings"), "signals": _("Signals"),
    "verdicts": _("How verdicts are made"), "webhooks": _("Webhooks"),
}  # fmt: skip
"""The titles in the reader's language; the pages themselves are the English reference."""
GROUPS = (
    (_("How figures come about"), ("money", "verdicts", "signals")),
    (_("Setting it up"), ("fleet-yaml", "roles", "settings", "commands", "channels", "webhooks")),
    (_("For programs"), ("api", "codes", "metrics")),
)


@require_safe
@signed_in
def index(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """List the pages of the reference by what one wants to know."""
    told = {name for _title, names in GROUPS for name in names}
    groups = [*GROUPS, (_("More"), tuple(name for name in page_names() if name not in told))]
    shown = [
        (title, [(TITLES.get(name, found.title), found) for name in names if (found := help_page(name))])
        for title, names in groups
    ]
    context = {"visitor": visitor, "groups": [group for group in shown if group[1]]}
    return render(request, "config/help_index.html", context)


@require_safe
@signed_in
def page(request: HttpRequest, visitor: Visitor, name: str) -> HttpResponse:
    """Show a page of the reference."""
    found = help_page(name)
    if found is None:
        raise Http404
    return render(
        request, "config/help.html", {"visitor": visitor, "page": found, "title": TITLES.get(name, found.title)}
    )
