"""What can go wrong at a source, as errors with a code, a sentence and a remedy (docs/reference/codes.md)."""

from __future__ import annotations

import socket
from typing import Any

import requests

from common.errors import OutsideFailed

SPLITTABLE = frozenset({"too_many_samples", "too_many_points", "query_timeout", "range_too_long", "answer_too_big"})
"""Codes that a smaller question may cure."""


class Transient(Exception):
    """A failure that may pass by itself; ``wait_seconds`` is what the source asked for, if it did."""

    def __init__(self, error: OutsideFailed, wait_seconds: float | None = None) -> None:
        super().__init__(error.message)
        self.error, self.wait_seconds = error, wait_seconds


def timed_out(url: str) -> OutsideFailed:
    """Say that no whole answer came in time."""
    return OutsideFailed(
        "source_timeout",
        f"{url} did not answer in time.",
        hint="Look at its load and at what stands between it and here.",
    )


def too_big(url: str, limit: int) -> OutsideFailed:
    """Say that an answer did not end."""
    return OutsideFailed(
        "answer_too_big",
        f"{url} sent more than {limit // 2**20} MiB without an end.",
        hint="Check that the URL is a Prometheus API; narrow it with `selector`.",
        permanent=True,
    )


def of_connection(error: requests.RequestException, url: str) -> Exception:
    """Turn a failure of the connection into an error that says which kind it was."""
    text = str(error)
    if isinstance(error, requests.exceptions.SSLError):
        return _of_client_certificate(text, url) or OutsideFailed(
            "tls_failed",
            f"No trusted TLS connection to {url}: {_reason(text)}.",
            hint="Give the CA with auth: {mtls: {ca: file:/path}} or use a certificate that this machine trusts.",
            permanent=True,
        )
    if isinstance(error, requests.exceptions.Timeout):
        return timed_out(url)
    if "NameResolutionError" in text or isinstance(_cause(error), socket.gaierror):
        return OutsideFailed(
            "dns_failed", f"The name in {url} can't be resolved.", hint="Check the host name in `url`."
        )
    if isinstance(
        error, requests.exceptions.InvalidURL | requests.exceptions.MissingSchema | requests.exceptions.InvalidSchema
    ):
        return OutsideFailed("bad_url", f"{url} is no URL.", hint="Write http://host:9090.", permanent=True)
    return Transient(
        OutsideFailed(
            "source_down", f"{url} can't be reached: {_reason(text)}.", hint="Start it, or correct host and port."
        )
    )


def _of_client_certificate(text: str, url: str) -> OutsideFailed | None:
    """Say that the server wants another certificate of ours; None: its refusal is about something else.

    Words are those of TLS alerts. With TLS 1.3 a server refuses after the handshake: then our own write may fail
    before its alert is read, and all that is known is that it hung up.
    """
    lower = text.lower().replace("_", " ")
    code = "auth_failed"
    if "certificate required" in lower or ("alert" in lower and "handshake failure" in lower):
        said = "wants a client certificate"
    elif "alert" in lower and any(word in lower for word in ("unknown ca", "bad certificate", "certificate expired")):
        said = "does not accept this client certificate"
    elif "eof occurred" in lower:
        code, said = "tls_failed", "closed the TLS connection; it may want a client certificate, or another one"
    else:
        return None
    return OutsideFailed(
        code,
        f"{url} {said}.",
        hint="Give one that its CA signed: auth: {mtls: {cert: file:/path, key: file:/path}}.",
        permanent=True,
    )


def _cause(error: BaseException) -> BaseException:
    while error.__cause__ or error.__context__:
        error = error.__cause__ or error.__context__  # type: ignore[assignment]
    return error


def _reason(text: str) -> str:
    for word, reason in (
        ("Connection refused", "connection refused"),
        ("certificate verify failed", "its certificate is not trusted"),
        ("Connection reset", "the connection was reset"),
        ("Remote end closed", "it closed the connection"),
        ("IncompleteRead", "the answer was cut off"),
        ("unreachable", "network unreachable"),
    ):
        if word.lower() in text.lower():
            return reason
    return "the connection failed"


def of_status(answer: requests.Response, content: bytes, document: dict[str, Any] | None, url: str) -> Exception:
    """Turn an answer that is no success into an error.

    Texts of servers differ, so words are looked for, not sentences.
    """
    status = answer.status_code
    said = str((document or {}).get("error") or "")[:300]
    lower = said.lower()
    if document is None and 200 <= status < 300:
        return not_json(content, url)
    if status in (301, 302, 303, 307, 308):
        return OutsideFailed(
            "login_page",
            f"{url} redirects elsewhere: a sign-in page or another address stands before it.",
            hint="Give `auth` for the source, or the address behind the sign-in.",
            permanent=True,
        )
    if status in (401, 403):
        code, verb = ("auth_failed", "does not accept") if status == 401 else ("auth_forbidden", "forbids")
        return OutsideFailed(
            code,
            f"{url} {verb} these credentials ({status}).",
            hint="Set `auth` (bearer, basic, header or mtls) of the source.",
            permanent=True,
        )
    if status == 404:
        return OutsideFailed(
            "not_prometheus",
            f"{url}/api/v1 is not there (404).",
            hint="Give the base URL; Mimir needs /prometheus behind it, VictoriaMetrics clusters /select/0/prometheus.",
            permanent=True,
        )
    found = _of_words(lower, said, url)
    if found is not None:
        return found
    if status in (429, 500, 502, 503, 504, 408):
        code = "source_overloaded" if status in (429, 503) else "source_failed"
        hint = "It is asked again at the next pass; look at its load."
        error = OutsideFailed(code, f"{url} answered {status}. {said}".strip(), hint=hint)
        return Transient(error, _retry_after(answer))
    return OutsideFailed(
        "query_rejected", f"{url} rejected a query ({status}). {said}".strip(), hint="Check `selector` of the source."
    )


def _of_words(lower: str, said: str, url: str) -> OutsideFailed | None:
    table = (
        (("too many samples", "max-samples", "maxsamples", "-search.max"), "too_many_samples"),
        (("11,000 points", "30000", "too many points", "exceeded maximum resolution"), "too_many_points"),
        (("query length", "range limit", "time range exceeds"), "range_too_long"),
        (("timed out", "timeout", "context deadline", "query was canceled"), "query_timeout"),
    )
    for words, code in table:
        if any(word in lower for word in words):
            return OutsideFailed(
                code, f"{url}: {said}", hint="Narrow the source with `selector`, or raise the server's limit."
            )
    return None


def not_json(content: bytes, url: str) -> OutsideFailed:
    """Say what stands where JSON should."""
    start = content[:2048].lstrip().lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head")) or b"<html" in start:
        return OutsideFailed(
            "login_page",
            f"{url} answers with a web page where the API should be: most likely a sign-in page.",
            hint="Give `auth` for the source, or the address behind the sign-in.",
            permanent=True,
        )
    if not content:
        return OutsideFailed("source_failed", f"{url} gave an empty answer.", hint="Look at what stands before it.")
    return OutsideFailed(
        "not_prometheus",
        f"{url} did not answer in Prometheus' form.",
        hint="Check the URL of the source.",
        permanent=True,
    )


def _retry_after(answer: requests.Response) -> float | None:
    value = answer.headers.get("Retry-After", "")
    return float(value) if value.isdecimal() else None


def private_address(url: str) -> OutsideFailed:
    """Say that the address lies in a private network, which a source made in a page may not reach by itself."""
    return OutsideFailed(
        "private_address",
        f"{url} is, or leads to, a private address.",
        hint="An admin may allow it: connect the source again with the box for private addresses ticked.",
        permanent=True,
    )
