"""Addresses of `people` below /api/v1/."""

from __future__ import annotations

from django.urls import path

from people.api.persons import Invitations, People, Rights
from people.api.saved import SavedViews
from people.api.views import Audit, Teams

urlpatterns = [
    path("teams/", Teams.as_view(), name="api_teams"),
    path("people/", People.as_view(), name="api_people"),
    path("invitations/", Invitations.as_view(), name="api_invitations"),
    path("roles/", Rights.as_view(), name="api_roles"),
    path("views/", SavedViews.as_view(), name="api_views"),
    path("audit/", Audit.as_view(), name="api_audit"),
]
