"""What the OpenAPI document says of a route, beside what its code says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view, inline_serializer
from rest_framework import serializers

from people.api.routes import ListRoute, Route
from people.api.shapes import RefusalShape, link

Shape = type[serializers.Serializer[Any]]
RouteClass = TypeVar("RouteClass", bound=type[Route])
WAYS_IN: Any = [{"token": []}, {"session": []}]  # OpenAPI's own form, which the library takes as it is
REFUSALS = {400: RefusalShape, 401: RefusalShape, 403: RefusalShape, 404: RefusalShape, 429: RefusalShape}


def documented(
    shape: Any, summary: str, *, path: Mapping[str, str] = MappingProxyType({})
) -> Callable[[RouteClass], RouteClass]:
    """Describe a route that answers one document of ``shape``; ``path``: what its address holds."""

    def describe(route: RouteClass) -> RouteClass:
        schema = extend_schema(
            operation_id=route.__name__.lower().removesuffix("route"),
            summary=summary,
            description=summary,
            auth=WAYS_IN,
            parameters=[
                *(
                    OpenApiParameter(name, location=OpenApiParameter.PATH, description=help_text)
                    for name, help_text in path.items()
                ),
                *(one.documented() for one in route.parameters),
            ],
            responses={200: shape, **REFUSALS},
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
            "next": link("the next page; null at the end"),
        },
    )
    return documented(page, summary)
