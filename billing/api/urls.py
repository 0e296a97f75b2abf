"""Addresses of `billing` below /api/v1/."""

from __future__ import annotations

from django.urls import path

from billing.api.idle import IdleRoute
from billing.api.team_months import TeamMonths
from billing.api.unassigned import Claims, Unassigned
from billing.api.views import PricesRoute, RuntimeRoute, SpendRoute

urlpatterns = [
    path("spend/", SpendRoute.as_view(), name="api_spend"),
    path("runtime/", RuntimeRoute.as_view(), name="api_runtime"),
    path("idle/", IdleRoute.as_view(), name="api_idle"),
    path("prices/", PricesRoute.as_view(), name="api_prices"),
    path("team-months/", TeamMonths.as_view(), name="api_team_months"),
    path("unassigned/", Unassigned.as_view(), name="api_unassigned"),
    path("claims/", Claims.as_view(), name="api_claims"),
]
