"""Every address of the product."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from billing.views import overview, overview_csv
from config.views import healthz
from people.views import sign_in, sign_out

urlpatterns: list[URLPattern | URLResolver] = [
    path("", overview, name="overview"),
    path("teams.csv", overview_csv, name="overview_csv"),
    path("sign-in/", sign_in, name="sign_in"),
    path("sign-out/", sign_out, name="sign_out"),
    path("healthz", healthz, name="healthz"),
]
