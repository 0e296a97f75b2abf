"""Sign in and out."""

from __future__ import annotations

from datetime import timedelta
from math import ceil

from django.contrib.auth import authenticate, login, logout
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from common.clock import real_now
from people.actions.sign_in import Attempt, record_failure, record_success, remaining_wait
from people.forms import SignInForm
from people.models import User
from people.queries import house

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
