"""The page behind the link of an invitation. Looking at it changes nothing; the form on it lets the person in."""

from __future__ import annotations

from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from common.clock import real_now
from common.errors import FleetledgerError
from people.actions.invitations import accept
from people.queries import house
from people.queries.invitations import find
from people.sentences.refusals import Refusal, refusal
from people.views.door import DOORSTEP


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Ask for a name and a password; take them once."""
    if request.method != "POST":
        return _page(request, token)
    try:
        user = accept(
            now=real_now(), token=token, name=request.POST.get("name", ""), password=request.POST.get("password", "")
        )
    except FleetledgerError as error:
        return _page(request, token, refused=refusal(error))
    login(request, user, backend=DOORSTEP)
    return redirect("overview")


def _page(request: HttpRequest, token: str, *, refused: Refusal | None = None) -> HttpResponse:
    """Render the form, or say that the link is good for nothing: the same for every reason."""
    found = find(token, now=real_now())
    context = {"invitation": found, "token": token, "house": house(), "refused": refused}
    status = 404 if found is None else refused.status if refused else 200
    answer = render(request, "people/invitation.html", context | {"name": request.POST.get("name", "")}, status=status)
    answer["Referrer-Policy"] = "no-referrer"  # the link is a key until it is used
    return answer
