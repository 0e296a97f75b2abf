"""Types of addresses and of what is secret: URLs, names of secrets, headers."""

from __future__ import annotations

import ipaddress
import re
from typing import Any
from urllib.parse import urlsplit

from common.errors import BadInput
from common.secrets import check_reference
from config.declared.values import Reading, Scalar

_REFERENCE = re.compile(r"(env|file):")


def is_reference(value: str) -> bool:
    """Whether ``value`` names a secret instead of being one."""
    return bool(_REFERENCE.match(value))


def is_loopback(url: str) -> bool:
    """Whether the address of ``url`` is this machine, by its literal form (no name is looked up)."""
    host = (urlsplit(url).hostname or "").rstrip(".")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _url(value: str, _: Reading) -> str:
    hint = "Write http:// or https:// with a host, like https://prometheus.example.com."
    try:
        parts = urlsplit(value)
        port_is_fine = parts.port is None or parts.port > 0
    except ValueError:
        raise BadInput("bad_url", "This is no URL.", hint=hint) from None
    if parts.username is not None or parts.password is not None:
        raise BadInput("secret_in_url", "The URL holds a password.", hint="Name it under auth: env:NAME or file:/path.")
    if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"\s", value) or not port_is_fine:
        raise BadInput("bad_url", f"{value!r} is no URL that can be asked.", hint=hint)
    return value


def _secret(value: str, _: Reading) -> str:
    return check_reference(value, key="secret")


def _secret_url(value: str, reading: Reading) -> str:
    if is_reference(value):
        return check_reference(value, key="secret")
    if not re.match(r"https?://", value):
        raise BadInput("bad_secret", "This is neither a URL nor the name of one.", hint="Write env:NAME or file:/path.")
    url = _url(value, reading)
    if not is_loopback(url):
        raise BadInput(
            "bad_secret",
            "This URL is a secret by itself; it is named, not written.",
            hint="Write env:NAME or file:/path.",
        )
    return url


def _url_or_secret(value: str, reading: Reading) -> str:
    return check_reference(value, key="secret") if is_reference(value) else _url(value, reading)


def _http_path(value: str, _: Reading) -> str:
    if not value.startswith("/") or value.startswith("//") or re.search(r"[\s\\]", value):
        raise BadInput(
            "bad_path", f"{value!r} is no path.", hint="Write a path that begins with one /, like /v1/instances."
        )
    return value


def check_header(name: str, value: Any) -> None:
    """Refuse a header that can't be sent, and one that holds a secret in plain."""
    if not re.fullmatch(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,80}", name):
        raise BadInput("bad_header", f"{name!r} is no header's name.", hint="Write a name like X-Scope-OrgID.")
    if "\n" in str(value) or "\r" in str(value):
        raise BadInput("bad_header", "A header's value holds a line break.", hint="Write it on one line.")
    if is_reference(str(value)):
        check_reference(str(value), key=name)
    elif re.search(r"authorization|token|secret|api-?key|cookie|password", name, re.IGNORECASE):
        raise BadInput("bad_secret", f"{name}: a secret is named, not written.", hint="Write env:NAME or file:/path.")


URL = Scalar("URL", _url)
SECRET = Scalar("secret (env:NAME or file:/path)", _secret)
SECRET_URL = Scalar("secret (env:NAME or file:/path) or a loopback URL", _secret_url)
URL_OR_SECRET = Scalar("URL or secret", _url_or_secret)
HTTP_PATH = Scalar("path", _http_path)
