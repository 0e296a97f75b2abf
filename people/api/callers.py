"""Who calls: a program with a token, or a page in the session of its reader; and how often they may."""

from __future__ import annotations

from math import ceil
from typing import Any

from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from common.clock import real_now
from people.actions.calls import CALLS_PER_MINUTE, count_call, wait_of
from people.actions.tokens import token_for
from people.models import ApiToken, User
from people.models.token import Scope


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer fl_...`. One sentence for every wrong token: nothing is told of those there are."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Give the token's owner and the token; None when the request has none."""
        scheme, _, text = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        token = token_for(text.strip(), now=real_now())
        if token is None:
            raise AuthenticationFailed("This token is unknown, has ended or was revoked.", code="bad_token")
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        """Name the way in, for answers with status 401."""
        return "Bearer"


class MayRead(BasePermission):
    """Known, and with a token that is good for reading."""

    def has_permission(self, request: Request, view: Any) -> bool:
        """Say whether the caller is known and may read."""
        if not isinstance(request.user, User):
            return False
        return not isinstance(request.auth, ApiToken) or Scope.READ in request.auth.scopes


class CallsPerMinute(BaseThrottle):
    """The same number for every token and every person."""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the call; strangers are turned away before and count for nobody."""
        self.now = real_now()
        token = request.auth
        caller = f"token:{token.pk}" if isinstance(token, ApiToken) else f"user:{request.user.pk}"
        return count_call(caller, now=self.now) <= CALLS_PER_MINUTE

    def wait(self) -> float:
        """Give the seconds to wait."""
        return ceil(wait_of(self.now).total_seconds())
