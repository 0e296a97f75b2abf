"""What the OpenAPI document says of a route, beside what its code says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view, inline_serializer
from rest_framework import serializers

from people.api.routes import ListRoute, Route
from people.api.shapes import RefusalShape

Shape = type[serializers.Serializer[Any]]
RouteClass = TypeVar("RouteClass", bound=type[Route])
LIST_REFUSALS = {400: RefusalShape, 401: RefusalShape, 403: RefusalShape, 404: RefusalShape, 429: RefusalShape}


def documented(shape: Any, summary: str, *, path: tuple[str, ...] = ()) -> Callable[[RouteClass], RouteClass]:
    """Describe a route that answers one document of ``shape``; ``path``: the names in its address."""

    def describe(route: RouteClass) -> RouteClass:
        schema = extend_schema(
            operation_id=route.__name__.lower().removesuffix("route"),
            summary=summary,
            description=summary,
            auth=[{"token": []}, {"session": []}],
            parameters=[
                *(OpenApiParameter(name, location=OpenApiParameter.PATH) for name in path),
                *(one.documented() for one in route.parameters),
            ],
            responses={200: shape, **LIST_REFUSALS},
            tags=["read"],
        )
        return extend_schema_view(get=schema)(route)

    return describe


def listed(shape: Shape, summary: str) -> Callable[[type[ListRoute]], type[ListRoute]]:
    """Describe a route that answers pages of ``shape``."""
    page = inline_serializer(
        name=f"{shape.__name__.removesuffix('Shape')}Page",
        fields={
            "results": shape(many=True),
            "next": serializers.URLField(allow_null=True, help_text="the next page; null at the end"),
        },
    )
    return documented(page, summary)
