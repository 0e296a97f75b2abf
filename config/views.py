"""Doors for machines that watch us: /healthz, /readyz, /metrics."""

from __future__ import annotations

import hmac

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST

from common.clock import real_now
from config.health import database_answers, readiness
from config.metrics import exposition


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Say ok, or 503; nothing more."""
    healthy = database_answers()
    return HttpResponse("ok" if healthy else "not ok", content_type="text/plain", status=200 if healthy else 503)


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Say whether everything is fit and passing, and what is not."""
    checks = readiness(real_now())
    ready = not any(check.message for check in checks)
    document = {"ready": ready, "checks": [check.as_json() for check in checks]}
    return JsonResponse(document, status=200 if ready else 503)


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Give our metrics; figures of teams for who holds the token. A wrong token is refused, not ignored."""
    given = request.headers.get("Authorization")
    token = settings.METRICS_TOKEN
    is_trusted = bool(token and given and hmac.compare_digest(given.encode(), f"Bearer {token}".encode()))
    if given and not is_trusted:
        return HttpResponse(
            "wrong token\n", status=401, content_type="text/plain", headers={"WWW-Authenticate": "Bearer"}
        )
    return HttpResponse(exposition(real_now(), with_teams=is_trusted), content_type=CONTENT_TYPE_LATEST)
