"""Every refusal in the one shape of doors.md: `{"error": {"code", "message", "hint", "where"}}`."""

from __future__ import annotations

from typing import Any

import structlog
from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, status
from rest_framework.response import Response

from common.errors import BadInput, FleetledgerError

log = structlog.get_logger(__name__)

Told = tuple[int, str, str, str]  # status, code, message, hint
NOT_FOUND: Told = (404, "not_found", "There is no such thing, or it is not yours to see.", "See /api/docs/.")


class NotPermitted(exceptions.APIException):
    """The caller's roles do not cover this route."""

    status_code = status.HTTP_403_FORBIDDEN
    default_code = "not_permitted"


def answer_error(error: Exception, context: dict[str, Any]) -> Response:
    """Turn whatever a route raised into its answer; what nobody foresaw is logged, and not told."""
    if isinstance(error, FleetledgerError):
        document = error.as_json()
        return Response({"error": document}, status=400 if isinstance(error, BadInput) else 409)
    known = _tell(error)
    if known is None:
        log.error("api_error", path=context["request"].path, exc_info=error)
        known = (500, "internal_error", "Something went wrong here.", "The log of the web process has more.")
    number, code, message, hint = known
    where = {"file": None, "line": None, "key": None}
    answer = Response({"error": {"code": code, "message": message, "hint": hint, "where": where}}, status=number)
    if isinstance(error, exceptions.APIException):
        if getattr(error, "auth_header", None):
            answer["WWW-Authenticate"] = error.auth_header
        if getattr(error, "wait", None):
            answer["Retry-After"] = str(int(error.wait))
    return answer


def _tell(error: Exception) -> Told | None:
    """Find the answer of the first kind that the error is of."""
    for kinds, told in _ANSWERS:
        if isinstance(error, kinds):
            number, code, message, hint = told
            return number, code, message or str(getattr(error, "detail", "")), hint
    return None


# "" as message: the error's own words, which are ours. From the most special kind to the most general one.
_ANSWERS: tuple[tuple[tuple[type[Exception], ...], Told], ...] = (
    ((Http404, exceptions.NotFound), NOT_FOUND),
    (
        (exceptions.AuthenticationFailed,),
        (401, "bad_token", "", "`manage.py token create` or /settings/tokens/ makes a new one."),
    ),
    (
        (exceptions.NotAuthenticated,),
        (
            401,
            "not_signed_in",
            "Nobody is signed in.",
            "Send `Authorization: Bearer TOKEN`; /settings/tokens/ makes one.",
        ),
    ),
    (
        (exceptions.MethodNotAllowed,),
        (405, "method_not_allowed", "This route does not know this method.", "It is for reading: GET."),
    ),
    ((exceptions.NotAcceptable,), (406, "not_acceptable", "Answers are application/json.", "Accept that.")),
    (
        (exceptions.Throttled,),
        (429, "too_many_calls", "Too many calls in this minute.", "Wait as long as Retry-After says."),
    ),
    ((NotPermitted,), (403, "not_permitted", "", "Ask an admin for a role that covers it.")),
    (
        (exceptions.PermissionDenied, PermissionDenied),
        (403, "refused", "This is refused.", "A page sends its CSRF token; a token needs the scope read."),
    ),
    ((exceptions.APIException,), (400, "bad_request", "This request can't be read.", "See /api/docs/.")),
)
