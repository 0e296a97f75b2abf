"""What every page of the demo says at its top."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest
from django.utils.functional import SimpleLazyObject

from common.clock import real_now
from demo.queries import progress


def demo(request: HttpRequest) -> dict[str, Any]:  # noqa: ARG001 - Django gives it
    """Give `demo`: how far the history is; asked only by pages that say so."""
    return {"demo": SimpleLazyObject(lambda: progress(real_now()))}
