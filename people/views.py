"""Sign in and out; tokens for programs."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from django.contrib.auth import authenticate, login, logout
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from common.clock import real_now
from common.errors import BadInput
from people.actions.sign_in import Attempt, record_failure, record_success, remaining_wait
from people.actions.tokens import NewToken, create_token, revoke_token
from people.forms import SignInForm, TokenForm
from people.models import User
from people.queries import house, tokens_of
from people.visitor import Visitor, signed_in

DOORSTEP = "django.contrib.auth.backends.ModelBackend"


def safe_next(request: HttpRequest) -> str:
    """Give the page to go to after signing in; what is no path of this site is ignored."""
    wanted = request.POST.get("next") or request.GET.get("next") or "/"
    is_ours = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_ours and wanted.startswith("/") else "/"


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Show the form; check what was filled in."""
    if isinstance(request.user, User):
        return HttpResponseRedirect(safe_next(request))
    if request.method != "POST":
        return _form(request, SignInForm())
    form = SignInForm(request.POST)
    if not form.is_valid():
        return _form(request, form, status=400)
    now = real_now()
    attempt = Attempt(form.cleaned_data["email"], request.META.get("REMOTE_ADDR", ""))
    wait = remaining_wait(attempt, now=now)
    if wait > timedelta(0):
        form.add_error(None, _("Too many tries. Wait %(seconds)s seconds.") % {"seconds": ceil(wait.total_seconds())})
        answer = _form(request, form, status=429)
        answer["Retry-After"] = str(ceil(wait.total_seconds()))
        return answer
    user = authenticate(request, username=attempt.email, password=form.cleaned_data["password"])
    if not isinstance(user, User):
        record_failure(attempt, now=now)
        form.add_error(None, _("This e-mail address and password don’t match."))
        return _form(request, form, status=403)
    login(request, user, backend=DOORSTEP)
    record_success(user, attempt, now=now)
    return HttpResponseRedirect(safe_next(request))


def _form(request: HttpRequest, form: SignInForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "next": safe_next(request), "house": house()}
    return render(request, "people/sign_in.html", context, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponseRedirect:
    """End the session."""
    logout(request)
    return HttpResponseRedirect("/sign-in/")


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def tokens(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show one's own tokens for programs; make one, whose secret stands in this answer and never again; end one."""
    form, made = TokenForm(teams=list(visitor.teams.values())), None
    status = 200
    if request.method == "POST" and "revoke" in request.POST:
        try:
            revoke_token(now=real_now(), by=visitor.user.email, prefix=request.POST["revoke"], owner=visitor.user)
        except BadInput as error:
            raise Http404 from error
        return redirect("tokens")
    if request.method == "POST":
        form = TokenForm(request.POST, teams=list(visitor.teams.values()))
        made, status = (_make(form, visitor), 201) if form.is_valid() else (None, 400)
    context = {"nav": "tokens", "visitor": visitor, "form": form, "made": made, "now": real_now()}
    return render(request, "people/tokens.html", context | {"tokens": tokens_of(visitor.user)}, status=status)


def _make(form: TokenForm, visitor: Visitor) -> NewToken:
    asked = form.cleaned_data
    return create_token(
        now=real_now(), by=visitor.user.email, owner=visitor.user.email, name=asked["name"], days=asked["days"],
        team=asked["team"],
    )  # fmt: skip
