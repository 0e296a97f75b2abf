"""The API's own doors: the OpenAPI document, a page of ours that shows it, and what is no route at all."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from config.api.document import openapi, openapi_yaml
from config.api.reference import routes
from people.api.routes import Route
from people.visitor import Visitor, signed_in


@require_safe
def schema(request: HttpRequest) -> HttpResponse:
    """Give the OpenAPI document, which holds nothing of the installation: YAML, or JSON for who prefers it."""
    if request.get_preferred_type(["application/yaml", "application/json"]) == "application/json":
        return JsonResponse(openapi())
    return HttpResponse(openapi_yaml(), content_type="application/yaml; charset=utf-8")


@require_safe
@signed_in
def api_docs(request: HttpRequest, visitor: Visitor) -> HttpResponse:
    """Show every route with its parameters and shape."""
    context = {"nav": "api", "visitor": visitor, "routes": routes(openapi()), "base": settings.FLEETLEDGER_URL}
    return render(request, "config/api_docs.html", context)


@extend_schema(exclude=True)
class NoSuchRoute(Route):
    """Answers addresses that are none, in the API's own shape."""

    def get(self, request: Request) -> Response:
        """Say so."""
        raise Http404
