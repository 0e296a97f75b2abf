"""Sign what a webhook sends, so that its receiver can tell it from a forgery and from a replay."""

from __future__ import annotations

import hashlib
import hmac

HEADER = "Fleetledger-Signature"
TOLERANCE_SECONDS = 300


def sign(body: bytes, *, secret: str, at: int) -> str:
    """Give the header's value for ``body`` sent at ``at`` (epoch seconds): ``t=...,v1=...``."""
    return f"t={at},v1={_digest(body, secret, at)}"


def verify(body: bytes, header: str, *, secret: str, at: int, tolerance_seconds: int = TOLERANCE_SECONDS) -> bool:
    """Say whether ``header`` signs ``body`` and is at most ``tolerance_seconds`` away from ``at``."""
    parts = dict(part.partition("=")[::2] for part in header.split(","))
    stamp = parts.get("t", "")
    if not (stamp.isascii() and stamp.isdigit()) or abs(at - int(stamp)) > tolerance_seconds:
        return False
    return hmac.compare_digest(_digest(body, secret, int(stamp)).encode(), parts.get("v1", "").encode())


def _digest(body: bytes, secret: str, at: int) -> str:
    return hmac.new(secret.encode(), str(at).encode() + b"." + body, hashlib.sha256).hexdigest()
