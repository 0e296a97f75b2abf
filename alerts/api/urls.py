"""Addresses of `alerts` below /api/v1/."""

from __future__ import annotations

from django.urls import path

from alerts.api.views import Alerts, Deliveries

urlpatterns = [
    path("alerts/", Alerts.as_view(), name="api_alerts"),
    path("deliveries/", Deliveries.as_view(), name="api_deliveries"),
]
