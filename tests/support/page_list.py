"""Every page of the product, by the pattern of its address: what the browser opens, or why it opens nothing.

A new address fails `tests/integration/kit/test_page_list.py` until it stands here.
"""

from __future__ import annotations

from tests.support import page_worlds as worlds

# Opened in the world `month_with_idle_machines`, as its administrator.
PAGES: dict[str, tuple[str, ...]] = {
    "": ("/?month=2025-06",),
    "idle/": ("/idle/",),
    "instances/<str:account>/<path:external_id>/": ("/instances/lab/vis-h100-07/",),
    "settings/tokens/": ("/settings/tokens/",),
    "settings/people/": ("/settings/people/",),
    "settings/teams/": ("/settings/teams/",),
    "audit/": ("/audit/",),
    "api/docs/": ("/api/docs/",),
    "design/": ("/design/", "/design/?q=nothing-like-this"),
    "search/": ("/search/", "/search/?q=h100", "/search/?q=nothing-like-this"),
    "help/": ("/help/",),
    "help/<slug:name>/": ("/help/money/", "/help/fleet-yaml/"),
    "views/": ("/views/", "/views/?save=/idle/%3Fteam%3Dvision"),
    "sources/": ("/sources/",),
    "sources/<str:name>/": ("/sources/prom-main/",),
    "settings/": ("/settings/",),
    "settings/sections/<slug:name>/": ("/settings/sections/teams/",),
    "start/": ("/start/",),
    "fleet/": ("/fleet/",),
    "instances/": ("/instances/",),
    "jobs/": ("/jobs/",),
    "jobs/<str:source>/<path:external_id>/": ("/jobs/-/vision/train-segmentation-0/",),
    "teams/": ("/teams/",),
    "teams/<str:name>/": ("/teams/vision/",),
    "prices/": ("/prices/",),
    "unassigned/": ("/unassigned/",),
}

NO_PAGES: dict[str, str] = {
    "teams.csv": "a file",
    "idle/top/": "a part of the overview",
    "invitations/<str:token>/": "wants an invitation: tests/browser of invitations",
    "incidents/": "of the demo alone",
    "settings/fleet.yaml": "a file",
    "start/progress/": "a part of the first steps",
    "sources/check/": "an act",
    "sign-in/": "for strangers: test_every_page.py",
    "sign-out/": "an act",
    "language/": "an act",
    "healthz": "for machines",
    "readyz": "for machines",
    "metrics": "for machines",
}
FOR_PROGRAMS = ("api/v1/", "api/schema/", "api/.*$")


def is_for_programs(pattern: str) -> bool:
    """Say whether an address is of the REST API."""
    return pattern.startswith(FOR_PROGRAMS)


ADMIN = worlds.ADMIN
