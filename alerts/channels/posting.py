"""POST a message over HTTP and read the answer the way every HTTP channel does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from alerts.domain.backoff import read_retry_after
from alerts.domain.ports import Accepted, ChannelError, Ids, is_on
from common.errors import BadInput
from common.http import Answer, Limits, NotAnswered, Reach, RefusedAddress, request
from common.periods import iso, parse_duration
from common.secrets import resolve

GONE = frozenset({401, 403, 404, 405, 410})
"""Answers that mean the address itself is wrong or closed: nothing sent there can arrive."""
LIMITS = Limits(total_seconds=10.0, bytes=2048)
LATER = frozenset({408, 409, 423, 425, 429})
KNOWN_CODES = frozenset(
    {
        "action_prohibited", "channel_is_archived", "channel_not_found", "invalid_blocks", "invalid_payload",
        "invalid_token", "no_active_hooks", "no_service", "no_team", "no_text", "posting_to_general_channel_denied",
        "rate_limited", "rollup_error", "team_disabled", "too_many_attachments", "user_not_found",
    }
)  # fmt: skip
"""What Slack says in a body. Nothing else of a body is kept: it could repeat what we sent, or the address."""


def declared(spec: Mapping[str, Any], key: str) -> str:
    """Read ``key`` of a channel: text, or the secret that it names. Raises BadInput when it is absent."""
    text = str(spec.get(key) or "")
    if not text:
        raise BadInput("channel_incomplete", f"The channel has no {key}.", hint=f"Give {key} in fleet.yaml.")
    return resolve(text, key=key) if text.startswith(("env:", "file:")) else text


def reach_of(spec: Mapping[str, Any]) -> Reach:
    """Give how far a channel may reach: a test channel stays on this machine, inside our network only where allowed."""
    if is_on(spec, "test"):
        return "loopback"
    return "any" if is_on(spec, "allow_private") else "public"


def limits_of(spec: Mapping[str, Any]) -> Limits:
    """Give how long one request may take: the channel's ``timeout`` (such as ``30s``), else ten seconds."""
    if not spec.get("timeout"):
        return LIMITS
    return replace(LIMITS, total_seconds=parse_duration(str(spec["timeout"]), key="timeout").total_seconds())


def post(
    url: str, body: bytes, *, spec: Mapping[str, Any], headers: Mapping[str, str], ids: Ids, now: datetime
) -> Accepted:
    """POST ``body`` once. Raises ChannelError; neither it nor its cause names the URL."""
    sent = {"Content-Type": "application/json", "User-Agent": "Fleetledger", "Idempotency-Key": ids.message, **headers}
    if ids.given_time:
        sent["Fleetledger-At"] = iso(now)
    try:
        answer = request("POST", url, headers=sent, body=body, reach=reach_of(spec), limits=limits_of(spec))
    except RefusedAddress:
        raise ChannelError("address_refused", permanent=True) from None
    except NotAnswered as error:
        raise ChannelError(error.reason, unknown=error.was_sent, permanent=error.reason == "bad_url") from None
    return judge(answer, now=now)


def judge(answer: Answer, *, now: datetime) -> Accepted:
    """Give Accepted for 2xx, else raise: try later (429, 5xx), wrong address (404 ...), or message not wanted."""
    status = answer.status
    if 200 <= status < 300:
        return Accepted(status)
    detail = _short_code(answer.body)
    if status in LATER or status >= 500:
        pause = read_retry_after(answer.headers.get("Retry-After"), now=now)
        raise ChannelError(detail or "try_later", status=status, retry_after=pause)
    if 300 <= status < 400:
        raise ChannelError("redirect_refused", status=status, permanent=True)
    about = "channel" if status in GONE else "message"
    raise ChannelError(detail or "refused", status=status, permanent=True, about=about)


def _short_code(body: bytes) -> str:
    text = body[:64].decode("ascii", errors="replace").strip()
    return text if text in KNOWN_CODES else ""
