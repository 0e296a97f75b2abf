"""Addresses of the fleet: the map, the machines, the jobs."""

from __future__ import annotations

from django.urls import URLPattern, path

from fleet.views.fleet_map import fleet_map
from fleet.views.instance import instance
from fleet.views.job import job
from fleet.views.jobs import jobs
from fleet.views.machines import instances

urlpatterns: list[URLPattern] = [
    path("fleet/", fleet_map, name="fleet_map"),
    path("instances/", instances, name="instances"),
    path("instances/<str:account>/<path:external_id>/", instance, name="instance"),
    path("jobs/", jobs, name="jobs"),
    path("jobs/<str:source>/<path:external_id>/", job, name="job"),
]
