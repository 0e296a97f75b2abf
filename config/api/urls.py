"""Every address below /api/."""

from __future__ import annotations

from django.urls import include, path, re_path

from config.api.settings import SettingsRoute
from config.api.views import NoSuchRoute, api_docs, schema

VERSION = [
    path("", include("fleet.api.urls")),
    path("", include("billing.api.urls")),
    path("", include("alerts.api.urls")),
    path("", include("people.api.urls")),
    path("settings/", SettingsRoute.as_view(), name="api_settings"),
]
urlpatterns = [
    path("v1/", include(VERSION)),
    path("schema/", schema, name="api_schema"),
    path("docs/", api_docs, name="api_docs"),
    re_path(r".*$", NoSuchRoute.as_view(), name="api_no_such_route"),
]
