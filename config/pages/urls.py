"""Addresses of help, the design system, search."""

from __future__ import annotations

from django.urls import path

from config.pages import help as help_pages
from config.pages.design import design

urlpatterns = [
    path("design/", design, name="design"),
    path("help/", help_pages.index, name="help"),
    path("help/<slug:name>/", help_pages.page, name="help_page"),
]
