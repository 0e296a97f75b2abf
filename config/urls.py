"""Every address of the product."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path
from django.views.i18n import set_language

from config.views import healthz, metrics, readyz
from people.views import sign_in, sign_out, tokens

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("billing.urls")),
    path("", include("fleet.urls")),
    path("settings/tokens/", tokens, name="tokens"),
    path("api/", include("config.api.urls")),
    path("sign-in/", sign_in, name="sign_in"),
    path("language/", set_language, name="language"),
    path("sign-out/", sign_out, name="sign_out"),
    path("healthz", healthz, name="healthz"),
    path("readyz", readyz, name="readyz"),
    path("metrics", metrics, name="metrics"),
]
