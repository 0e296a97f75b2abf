"""Addresses of `fleet` below /api/v1/."""

from __future__ import annotations

from django.urls import path

from fleet.api.fleet_map import FleetMap
from fleet.api.views import Findings, Gpus, Instance, Instances, Jobs, Sources

urlpatterns = [
    path("instances/", Instances.as_view(), name="api_instances"),
    path("instances/<str:account>/<path:external_id>/", Instance.as_view(), name="api_instance"),
    path("fleet/", FleetMap.as_view(), name="api_fleet"),
    path("gpus/", Gpus.as_view(), name="api_gpus"),
    path("jobs/", Jobs.as_view(), name="api_jobs"),
    path("findings/", Findings.as_view(), name="api_findings"),
    path("sources/", Sources.as_view(), name="api_sources"),
]
