"""Addresses of the demo, before those of the product."""

from __future__ import annotations

from django.urls import URLPattern, URLResolver, include, path

from demo.views import incident, incidents

urlpatterns: list[URLPattern | URLResolver] = [
    path("incidents/", incidents, name="incidents"),
    path("incidents/<slug:name>/start/", incident, {"act": "start"}, name="start_incident"),
    path("incidents/<slug:name>/end/", incident, {"act": "end"}, name="end_incident"),
    path("", include("config.urls")),
]
