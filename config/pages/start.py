"""The first run: connect a source, see a GPU, name teams, set a price, invite people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from celery.exceptions import OperationalError
from django.conf import settings
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from billing.queries.priced_now import Priced
from common.clock import real_now
from common.errors import BadInput, FleetledgerError, Refused
from common.http import RefusedAddress, checked_addresses
from config.declared.single import typed
from config.pages.named_secrets import secret_names
from config.pages.steps import first_run
from config.tasks import run_periodic_job
from fleet.actions.connect import connect_source, try_source
from fleet.actions.default_source import DEFAULT
from fleet.actions.rename_team import follow_rename
from fleet.queries.first_run import progress
from people.actions.team_edits import TeamForm, accept_teams, change_team
from people.queries.team_list import team_rows
from people.roles import Right
from people.sentences.refusals import refusal
from people.views.teams import refuse_if_named
from people.visitor import Visitor, signed_in

AUTH = ("none", "bearer", "basic", "header")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def start(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show the steps; a POST checks or connects a source, or names the teams that were found."""
    if not visitor.can(Right.MANAGE_SETTINGS):
        return render(request, "403.html", status=403)
    if request.method != "POST":
        return _page(request, visitor)
    act = ACTS.get(request.POST.get("act", ""))
    if act is None:
        return render(request, "400.html", status=400)
    try:
        return act(request, visitor)
    except FleetledgerError as error:
        return _page(request, visitor, refused=refusal(error))


@never_cache
@require_safe
@signed_in
def start_progress(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Give the counts of the second step anew; the page asks while they grow."""
    if not visitor.can(Right.MANAGE_SETTINGS):
        return HttpResponse(status=403)
    found = progress()
    answer = render(request, "config/_seen.html", {"visitor": visitor, "progress": found})
    if found.gpus and "waiting" in request.GET:
        answer["HX-Refresh"] = "true"  # the next steps are open now
    return answer


def _page(request: HttpRequest, visitor: Visitor, **more: Any) -> HttpResponse:
    refused = more.get("refused")
    run = first_run(visitor.now)
    context: dict[str, Any] = {
        "nav": "start", "visitor": visitor, "run": run, "secrets": secret_names(),
        "given": request.POST if request.method == "POST" else {},
        "auth_kinds": AUTH, "is_demo": settings.IS_DEMO, "default_name": DEFAULT,
        "price_lines": _price_lines(run.priced, visitor.house.currency),
    }  # fmt: skip
    status = refused.status if refused else 200
    return render(request, "config/start.html", context | more, status=status)


def _price_lines(priced: Priced, currency: str) -> str:
    """Write the prices that are missing as fleet.yaml wants them; the amounts are examples."""
    lines = [
        f'  - {{provider: {provider or "on-prem"}, gpu_model: {model or "H100-SXM5-80GB"}, price_per_hour: "2.50",'
        f" unit: gpu_hour, currency: {currency}}}"
        for provider, model, _count in priced.unpriced
    ]
    return "\n".join(["prices:", *lines])


def _check(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Ask the source of the form, and show what it says; nothing is kept."""
    return _page(request, visitor, checks=try_source(_source(request), now=real_now()))


def _connect(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Keep the source when it answers; when it does not, say what to do and keep nothing."""
    spec = _source(request)
    checks = try_source(spec, now=real_now())
    broken = next((check for check in checks if not check.ok and check.check == "source_reachable"), None)
    if broken is not None:
        return _page(request, visitor, checks=checks)
    connect_source(spec, now=real_now(), by=visitor.user.email)
    _read_soon()
    messages.success(request, _("%(name)s is connected. Its GPUs appear below as they are read.") % spec)
    return redirect("start")


def _source(request: HttpRequest) -> dict[str, Any]:
    """Read the form of a source. Raises BadInput, Refused (private_address, demo_database)."""
    if settings.IS_DEMO:
        raise Refused("demo_database", "This is the demo’s database.", hint="Connect a source to your own.")
    form = request.POST
    spec: dict[str, Any] = {
        "name": form.get("name", "").strip() or DEFAULT, "kind": "prometheus", "url": form.get("url", "").strip(),
        "selector": form.get("selector", "").strip(), "auth": _auth(request),
    }  # fmt: skip
    found = dict(typed("sources", spec))
    if form.get("allow_private") != "yes":
        found["public_only"] = True
        _refuse_private(found["url"])
    return found


def _auth(request: HttpRequest) -> dict[str, Any]:
    kind, secret = request.POST.get("auth", "none"), request.POST.get("secret", "")
    if kind == "none":
        return {}
    if secret not in secret_names():
        raise BadInput(
            "secret_not_declared", "This secret is not one that pages may use.", hint="Take one of the list."
        )
    if kind == "basic":
        return {"basic": {"user": request.POST.get("user", "").strip(), "password": secret}}
    if kind == "header":
        return {"header": {request.POST.get("user", "").strip() or "X-Api-Key": secret}}
    return {"bearer": secret}


def _refuse_private(url: str) -> None:
    """Look the name up once now; every later connection is checked again where it is made."""
    parts = urlsplit(url)
    try:
        checked_addresses(parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80), reach="public")
    except RefusedAddress:
        raise Refused("private_address", "This is a private address.", hint="Tick the box to allow it.") from None
    except (OSError, UnicodeError):
        return  # the check says so in its own words


def _read_soon() -> None:
    """Ask the worker for a pass now instead of in five minutes; without a broker the clock does it."""
    try:
        run_periodic_job.apply_async(("collect",), expires=300, retry=False)
    except (OperationalError, OSError):
        return


def _name_teams(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Give the found teams the names of the form, and keep the others as they are."""
    with transaction.atomic():
        for team in [row for row in team_rows() if row.origin == "telemetry"]:
            name = request.POST.get(f"team-{team.id}", "").strip()
            if not name or name == team.name:
                continue
            form = TeamForm(name, team.parent_id, team.cost_center)
            old = change_team(now=real_now(), by=visitor.user, team_id=team.id, form=form)
            if old.casefold() != name.casefold():
                refuse_if_named(old)
                follow_rename(old=old, new=name)
        accept_teams(now=real_now(), by=visitor.user)
    messages.success(request, _("The teams have their names."))
    return redirect("start")


ACTS: dict[str, Callable[[HttpRequest, Visitor], HttpResponse]] = {
    "check": _check, "connect": _connect, "teams": _name_teams,
}  # fmt: skip
