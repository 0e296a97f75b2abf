"""Addresses of pages of money."""

from __future__ import annotations

from django.urls import URLPattern, path

from billing.views.idle import idle_top
from billing.views.idle_queue import idle_list
from billing.views.overview import overview, overview_csv
from billing.views.prices import prices
from billing.views.teams import team, teams
from billing.views.unassigned import unassigned

urlpatterns: list[URLPattern] = [
    path("", overview, name="overview"),
    path("teams.csv", overview_csv, name="overview_csv"),
    path("teams/", teams, name="teams"),
    path("teams/<str:name>/", team, name="team"),
    path("prices/", prices, name="prices"),
    path("unassigned/", unassigned, name="unassigned"),
    path("idle/", idle_list, name="idle_list"),
    path("idle/top/", idle_top, name="idle_top"),
]
