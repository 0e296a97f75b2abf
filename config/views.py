"""Doors for machines that watch us: /healthz, /readyz, /metrics."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from config.health import database_answers


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Say ok, or 503; nothing more."""
    healthy = database_answers()
    return HttpResponse("ok" if healthy else "not ok", content_type="text/plain", status=200 if healthy else 503)
