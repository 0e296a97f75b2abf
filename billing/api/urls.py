"""Addresses of `billing` below /api/v1/."""

from __future__ import annotations

from django.urls import path

from billing.api.idle import IdleRoute
from billing.api.views import PricesRoute, RuntimeRoute, SpendRoute

urlpatterns = [
    path("spend/", SpendRoute.as_view(), name="api_spend"),
    path("runtime/", RuntimeRoute.as_view(), name="api_runtime"),
    path("idle/", IdleRoute.as_view(), name="api_idle"),
    path("prices/", PricesRoute.as_view(), name="api_prices"),
]
