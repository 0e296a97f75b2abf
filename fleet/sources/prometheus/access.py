"""How a source lets us in: `auth` of its declaration, with secrets looked up by name at the moment of use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from common.errors import BadInput
from common.secrets import resolve, secret_file


@dataclass(frozen=True)
class Access:
    """What a session needs. Never printed: it holds secrets."""

    headers: dict[str, str] = field(default_factory=dict, repr=False)
    basic: tuple[str, str] | None = field(default=None, repr=False)
    cert: tuple[str, str] | str | None = field(default=None, repr=False)
    verify: bool | str = True


def _value(text: str, key: str) -> str:
    """Resolve a named secret; a header such as a tenant id may be plain."""
    return resolve(text, key=key) if text.startswith(("env:", "file:")) else text


def access_of(auth: Mapping[str, Any] | None) -> Access:
    """Build the access of ``auth``: {bearer}, {basic: {user, password}}, {header: {...}}, {mtls: {cert, key, ca}}."""
    auth = auth or {}
    headers: dict[str, str] = {}
    if "bearer" in auth:
        headers["Authorization"] = f"Bearer {resolve(str(auth['bearer']), key='auth.bearer')}"
    for name, value in (auth.get("header") or {}).items():
        headers[str(name)] = _value(str(value), f"auth.header.{name}")
    basic = None
    if "basic" in auth:
        given = auth["basic"] or {}
        if not given.get("user") or not given.get("password"):
            raise BadInput("bad_auth", "auth.basic needs user and password.", hint="basic: {user: u, password: env:P}")
        basic = (
            _value(str(given["user"]), "auth.basic.user"),
            resolve(str(given["password"]), key="auth.basic.password"),
        )
    mtls = {name: secret_file(str(value), key=f"auth.mtls.{name}") for name, value in (auth.get("mtls") or {}).items()}
    cert = (mtls["cert"], mtls["key"]) if "cert" in mtls and "key" in mtls else mtls.get("cert")
    return Access(headers, basic, cert, mtls.get("ca", True))
