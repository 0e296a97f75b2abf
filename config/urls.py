"""Every address of the product."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from config.views import healthz, metrics, readyz

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("billing.urls")),
    path("", include("fleet.urls")),
    path("api/", include("config.api.urls")),
    path("", include("config.pages.admin_urls")),
    path("language/", set_language, name="language"),
    path("", include("people.urls")),
    path("", include("config.pages.urls")),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
