"""Addresses of `people` below /api/v1/."""

from __future__ import annotations

from django.urls import path

from people.api.persons import People
from people.api.views import Audit, Teams

urlpatterns = [
    path("teams/", Teams.as_view(), name="api_teams"),
    path("people/", People.as_view(), name="api_people"),
    path("audit/", Audit.as_view(), name="api_audit"),
]
