"""Whatever file leaves the demo fleet says so in its name."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

MARK = "DEMO-"
_NAME = re.compile(r"""(filename\*?=(?:"|[\w-]+'\w*')?)""", re.IGNORECASE)


class NameFiles:
    """Puts DEMO at the start of the name of every file that is sent, by whichever view."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and name the file."""
        answer = self.get_response(request)
        said = answer.headers.get("Content-Disposition")
        if said and MARK not in said:
            answer.headers["Content-Disposition"] = _NAME.sub(rf"\g<1>{MARK}", said)
        return answer
