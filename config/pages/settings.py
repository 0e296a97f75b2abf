"""Settings: everything that fleet.yaml has. What a file manages is shown as such; a few things have forms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from alerts.actions.edit_channels import add_route, remove_route, save_channel, send_test
from alerts.queries.channels import channels_as_they_are
from alerts.queries.routes import routes_as_they_are
from common.clock import real_now
from common.errors import BadInput, FleetledgerError, Refused
from config.declared.present import SECTIONS, present_text, section_text
from config.declared.sections.organization import IDLE_DEFAULTS
from config.declared.sections.telling import KINDS
from config.declared.single import typed
from config.pages.named_secrets import secret_names
from fleet.actions.idle_rule import change_idle_rule, preview_idle_rule
from fleet.queries.declared_forms import idle_form
from people.actions.organization import change_organization
from people.queries.declared_forms import organization_as_it_is
from people.queries.persons import last_applied
from people.roles import Right
from people.sentences.refusals import refusal
from people.visitor import Visitor, signed_in

IDLE_KEYS = ("threshold_pct", "window", "empty_window", "min_coverage_pct", "warm_up")
READ_ONLY = tuple(name for name in SECTIONS if name not in ("organization", "channels", "routes"))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def settings(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show the settings; a POST changes one thing, previews the idle rule, or sends a test message."""
    if not visitor.can(Right.MANAGE_SETTINGS):
        return render(request, "403.html", status=403)
    if request.method != "POST":
        return _page(request, visitor)
    act = ACTS.get(request.POST.get("act", ""))
    if act is None:
        return render(request, "400.html", status=400)
    try:
        more = act(request, visitor)
    except FleetledgerError as error:
        return _page(request, visitor, refused=refusal(error))
    return _page(request, visitor, **more) if more else redirect("settings")


@require_safe
@signed_in
def settings_section(request: HttpRequest, visitor: Visitor, name: str) -> HttpResponse:
    """Show one section as YAML to copy."""
    if not visitor.can(Right.MANAGE_SETTINGS):
        return render(request, "403.html", status=403)
    if name not in SECTIONS:
        raise Http404
    context = {"nav": "settings", "visitor": visitor, "name": name, "text": section_text(name), "sections": READ_ONLY}
    return render(request, "config/settings_section.html", context | {"applied": last_applied()})


@never_cache
@require_safe
@signed_in
def settings_file(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Send all of it as a fleet.yaml."""
    if not visitor.can(Right.MANAGE_SETTINGS):
        return render(request, "403.html", status=403)
    answer = HttpResponse(present_text(), content_type="application/yaml; charset=utf-8")
    answer["Content-Disposition"] = 'attachment; filename="fleet.yaml"'
    return answer


def _page(request: HttpRequest, visitor: Visitor, **more: Any) -> HttpResponse:
    refused = more.get("refused")
    form, is_managed = organization_as_it_is()
    routes, routes_are_managed = routes_as_they_are()
    context: dict[str, Any] = {
        "nav": "settings", "visitor": visitor, "organization": form, "organization_is_managed": is_managed,
        "idle": {**IDLE_DEFAULTS, **(idle_form() or {})}, "channels": channels_as_they_are(), "routes": routes,
        "routes_are_managed": routes_are_managed, "applied": last_applied(), "secrets": secret_names(),
        "sections": READ_ONLY, "kinds": KINDS.name.split(" \\| "),
        "given": request.POST if request.method == "POST" else {}, "act": request.POST.get("act", ""),
    }  # fmt: skip
    return render(request, "config/settings.html", context | more, status=refused.status if refused else 200)


def _organization(request: HttpRequest, visitor: Visitor) -> None:
    given = {key: request.POST.get(key, "").strip() for key in ("name", "currency", "time_zone")}
    if not all(given.values()):
        raise BadInput("blank", "There is nothing here.", hint="Fill in name, currency and time zone.")
    change_organization(typed("organization", given), now=real_now(), by=visitor.user)
    messages.success(request, _("The organisation was saved."))


def _idle_spec(request: HttpRequest) -> dict[str, Any]:
    """Read the form of the idle rule. Raises BadInput, Refused (managed_by_file)."""
    if organization_as_it_is()[1]:
        raise Refused("managed_by_file", "fleet.yaml manages the idle rule.", hint="Change it there, apply it again.")
    given = {key: request.POST.get(key, "").strip() for key in (*IDLE_KEYS, "valid_from")}
    found: dict[str, Any] = dict(typed("organization", {"idle": {key: v for key, v in given.items() if v}})["idle"])
    return found


def _preview(request: HttpRequest, visitor: Visitor) -> dict[str, Any]:
    changes = preview_idle_rule(_idle_spec(request), now=visitor.now)
    rows = [{"old": old, "new": new, "n": n} for (old, new), n in sorted(changes.items(), key=lambda one: -one[1])]
    return {"preview": rows, "preview_total": sum(changes.values())}


def _idle(request: HttpRequest, visitor: Visitor) -> None:
    is_new = change_idle_rule(_idle_spec(request), now=real_now(), by=visitor.user.email)
    text = _("The idle rule was saved; past hours keep the rule they were judged by.")
    messages.success(request, text if is_new else _("The idle rule is as it was."))


def _channel(request: HttpRequest, visitor: Visitor) -> None:
    form, kind = request.POST, request.POST.get("kind", "")
    spec: dict[str, Any] = {"name": form.get("name", "").strip(), "kind": kind}
    secret = form.get("secret", "")
    if secret and secret not in secret_names():
        raise BadInput(
            "secret_not_declared", "This secret is not one that pages may use.", hint="Take one of the list."
        )
    if kind == "slack_webhook":
        spec["url"] = secret
    elif kind == "webhook":
        spec |= {"url": form.get("url", "").strip(), "secret": secret}
    elif kind == "email":
        spec["to"] = [one.strip() for one in form.get("to", "").split(",") if one.strip()]
    if form.get("allow_private") and kind != "email":
        spec["allow_private"] = "true"
    save_channel(dict(typed("channels", spec)), now=real_now(), by=visitor.user.email)
    messages.success(request, _("The channel was saved. Send a test to see that it arrives."))


def _test(request: HttpRequest, visitor: Visitor) -> None:
    send_test(request.POST.get("channel", ""), now=real_now(), by=visitor.user.email)
    messages.success(request, _("A test message is on its way; it goes out within ten seconds."))


def _route(request: HttpRequest, visitor: Visitor) -> None:
    form = request.POST
    match = {key: [form[key]] for key in ("teams", "kinds") if form.get(key)}
    spec = {"match": match, "channels": form.get("channel", ""), "fallback": form.get("fallback", "")}
    add_route(typed("routes", spec), now=real_now(), by=visitor.user.email)
    messages.success(request, _("The route was added before the others."))


def _drop_route(request: HttpRequest, visitor: Visitor) -> None:
    text = request.POST.get("route", "")
    remove_route(int(text) if text.isdecimal() and len(text) < 9 else -1, now=real_now(), by=visitor.user.email)
    messages.success(request, _("The route was removed."))


ACTS: dict[str, Callable[[HttpRequest, Visitor], dict[str, Any] | None]] = {
    "organization": _organization, "preview": _preview, "idle": _idle, "channel": _channel, "test": _test,
    "route": _route, "drop_route": _drop_route,
}  # fmt: skip
