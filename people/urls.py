"""Addresses of people: the door, tokens, people and roles, teams, invitations, the audit trail."""

from __future__ import annotations

from django.urls import URLPattern, path

from people.views.audit import audit
from people.views.door import sign_in, sign_out
from people.views.invitations import invitation
from people.views.people import people
from people.views.saved import saved_views
from people.views.teams import teams
from people.views.tokens import tokens

urlpatterns: list[URLPattern] = [
    path("settings/tokens/", tokens, name="tokens"),
    path("settings/people/", people, name="people"),
    path("settings/teams/", teams, name="team_settings"),
    path("invitations/<str:token>/", invitation, name="invitation"),
    path("audit/", audit, name="audit"),
    path("views/", saved_views, name="saved_views"),
    path("sign-in/", sign_in, name="sign_in"),
    path("sign-out/", sign_out, name="sign_out"),
]
