"""Addresses of help, the design system, search."""

from __future__ import annotations

from django.urls import path

from config.pages import help as help_pages
from config.pages.design import design
from config.pages.search import search

urlpatterns = [
    path("design/", design, name="design"),
    path("search/", search, name="search"),
    path("help/", help_pages.index, name="help"),
    path("help/<slug:name>/", help_pages.page, name="help_page"),
]
