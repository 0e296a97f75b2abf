"""The OpenAPI document, made from the routes; committed as docs/reference/openapi.yaml."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiYamlRenderer


@cache
def openapi() -> dict[str, Any]:
    """Give the document as values."""
    generator = SchemaGenerator(urlconf="config.urls")
    document: dict[str, Any] = generator.get_schema(request=None, public=True)
    return document


@cache
def openapi_yaml() -> str:
    """Give the document as YAML."""
    return OpenApiYamlRenderer().render(openapi(), renderer_context={}).decode()
