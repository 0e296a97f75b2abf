"""Tokens for programs."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from common.clock import real_now
from common.errors import BadInput
from people.actions.tokens import NewToken, create_token, revoke_token
from people.forms import TokenForm
from people.queries import tokens_of
from people.visitor import Visitor, signed_in


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
