"""Addresses of `fleet` below /api/v1/."""

from __future__ import annotations

from django.urls import path

from fleet.api.fleet_map import FleetMap
from fleet.api.health import Accounts, Passes, SourceRoute, Unseen
from fleet.api.job import JobRoute
from fleet.api.views import Findings, Gpus, Instance, Instances, Jobs, Sources

urlpatterns = [
    path("instances/", Instances.as_view(), name="api_instances"),
    path("instances/<str:account>/<path:external_id>/", Instance.as_view(), name="api_instance"),
    path("fleet/", FleetMap.as_view(), name="api_fleet"),
    path("gpus/", Gpus.as_view(), name="api_gpus"),
    path("jobs/", Jobs.as_view(), name="api_jobs"),
    path("jobs/<str:source>/<path:external_id>/", JobRoute.as_view(), name="api_job"),
    path("findings/", Findings.as_view(), name="api_findings"),
    path("sources/", Sources.as_view(), name="api_sources"),
    path("sources/<str:name>/", SourceRoute.as_view(), name="api_source"),
    path("unseen/", Unseen.as_view(), name="api_unseen"),
    path("accounts/", Accounts.as_view(), name="api_accounts"),
    path("passes/", Passes.as_view(), name="api_passes"),
]
