"""Addresses of the pages that look at all of it."""

from __future__ import annotations

from django.urls import URLPattern, path

from config.pages.settings import settings, settings_file, settings_section
from config.pages.sources import check_sources, source, sources
from config.pages.start import start, start_progress

urlpatterns: list[URLPattern] = [
    path("sources/", sources, name="sources"),
    path("sources/check/", check_sources, name="check_sources"),
    path("sources/<str:name>/", source, name="source"),
    path("settings/", settings, name="settings"),
    path("settings/fleet.yaml", settings_file, name="settings_file"),
    path("settings/sections/<slug:name>/", settings_section, name="settings_section"),
    path("start/", start, name="start"),
    path("start/progress/", start_progress, name="start_progress"),
]
