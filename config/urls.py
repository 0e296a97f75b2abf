"""Every address of the product."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from config.views import healthz, metrics, readyz
from fleet.views import instance

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("billing.urls")),
    path("instances/<str:account>/<path:external_id>/", instance, name="instance"),
    path("api/", include("config.api.urls")),
    path("", include("config.pages.urls")),
    path("language/", set_language, name="language"),
    path("", include("people.urls")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
