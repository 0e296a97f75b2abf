"""What every route does: know who calls, narrow to what they may see, read the query, answer JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import orjson
from django.http import Http404
from django.utils.cache import patch_cache_control
from rest_framework.authentication import SessionAuthentication
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from common.pages import Page, Slice
from people.api.callers import CallsPerMinute, MayRead, TokenAuthentication
from people.api.errors import NotPermitted, answer_error
from people.api.parameters import CURSOR, LIMIT, USUAL, Parameter, read_parameters, write_cursor
from people.models import ApiToken
from people.roles import TeamChoice
from people.visitor import Visitor, visitor_of

UNASSIGNED = "-"


class JSONRenderer(BaseRenderer):
    """Bytes of JSON; documents hold texts, numbers and None only."""

    media_type = "application/json"
    format = "json"
    charset = None

    def render(self, data: Any, accepted_media_type: str | None = None, renderer_context: Any = None) -> bytes:
        """Write the document."""
        return b"" if data is None else orjson.dumps(data)


def narrowed(visitor: Visitor, token: ApiToken | None) -> Visitor:
    """Give the caller as the token lets them see: a token of a team shows this team and those below it only."""
    if token is None or token.team_id is None:
        return visitor
    team = visitor.teams.get(token.team_id)
    visible = visitor.team_and_below(team) if team else frozenset()
    shown = {pk: one for pk, one in visitor.teams.items() if pk in visible}
    return replace(visitor, visible=visible, teams=shown)


class Route(APIView):
    """A route for reading. ``self.visitor``: the caller with what they may see."""

    authentication_classes = [TokenAuthentication, SessionAuthentication]
    permission_classes = [MayRead]
    throttle_classes = [CallsPerMinute]
    renderer_classes = [JSONRenderer]
    parser_classes: ClassVar[list[type]] = []
    http_method_names = ["get", "head"]
    parameters: ClassVar[tuple[Parameter, ...]] = ()
    for_everything = False  # True: not for those who see some teams only
    visitor: Visitor

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Let in who may, and see with their eyes. The caller counts before anything is read."""
        super().initial(request, *args, **kwargs)
        token = request.auth if isinstance(request.auth, ApiToken) else None
        self.visitor = narrowed(visitor_of(request.user), token)
        if self.visitor.sees_nothing:
            raise NotPermitted("Nobody has said yet what you may see: ask for a role.")
        if self.for_everything and not self.visitor.sees_all:
            raise NotPermitted("This is for roles of the whole organisation.")

    def asked(self, request: Request) -> dict[str, Any]:
        """Read the query."""
        return read_parameters(request.query_params, self.parameters)

    def rows_of(self, asked: Mapping[str, Any]) -> TeamChoice:
        """Give the rows that may be shown, of the asked team if there is one; another's does not exist."""
        name = asked.get("team")
        if not name:
            return self.visitor.everything
        if name == UNASSIGNED and self.visitor.sees_all:
            return TeamChoice(frozenset(), unassigned=True)
        team = self.visitor.team_named(name)
        if team is None:
            raise Http404
        return TeamChoice(self.visitor.team_and_below(team), unassigned=False)

    def team_names(self) -> dict[int, str]:
        """Give the names of the teams that may be shown."""
        return {pk: team.name for pk, team in self.visitor.teams.items()}

    def get_exception_handler(self) -> Any:
        """Answer every error in one shape."""
        return answer_error

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Any:
        """Keep the answer out of shared caches."""
        answer = super().finalize_response(request, response, *args, **kwargs)
        patch_cache_control(answer, private=True, no_store=True)
        return answer


class ListRoute(Route):
    """A list in pages: `{"results": [...], "next": address or null}`."""

    own_parameters: ClassVar[tuple[Parameter, ...]] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.parameters = (*cls.own_parameters, LIMIT, CURSOR)

    def get(self, request: Request) -> Response:
        """Answer one page."""
        asked = self.asked(request)
        part = Slice(asked.pop("limit", USUAL), asked.pop("cursor", None))
        page = self.page(asked, part)
        return Response({"results": page.items, "next": self._next(request, page)})

    def page(self, asked: Mapping[str, Any], part: Slice) -> Page:
        """Read one page."""
        raise NotImplementedError

    def _next(self, request: Request, page: Page) -> str | None:
        if page.last is None:
            return None
        query = request.query_params.copy()
        query["cursor"] = write_cursor(page.last)
        return request.build_absolute_uri(f"{request.path}?{query.urlencode()}")


def whole_page(rows: Sequence[dict[str, Any]], part: Slice) -> Page:
    """Cut a page out of a short list that was read whole; its keys are places."""
    start = part.after or 0
    return part.page([(start + n + 1, row) for n, row in enumerate(rows[start : start + part.limit + 1])])
