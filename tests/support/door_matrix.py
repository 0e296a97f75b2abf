"""Every address of the product, and what each kind of person is answered there.

A line: method and address -> one status each for: nobody, an engineer of another team, an engineer and the lead of the
team whose machine is asked for, finance, viewer and admin of the whole organisation. A new address needs a line.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime

WHO = ("nobody", "other", "member", "lead", "finance", "viewer", "admin")
MONTH = f"{datetime.now(UTC):%Y-%m}"


@dataclass(frozen=True)
class Line:
    """What an address answers; ``form``: what is posted."""

    pattern: str
    address: str
    statuses: tuple[int, ...]
    method: str = "GET"
    form: dict[str, str] = field(default_factory=dict)


PAGE = (302, 200, 200, 200, 200, 200, 200)  # for everybody who is signed in, each with their own rows
OF_A_TEAM = (302, 404, 200, 200, 200, 200, 200)
OPEN = (200,) * 7
ADMINS = (302, 403, 403, 403, 403, 403, 200)
API = (401, 200, 200, 200, 200, 200, 200)
API_OF_A_TEAM = (401, 404, 200, 200, 200, 200, 200)
API_OF_ALL = (401, 403, 403, 403, 200, 200, 200)
NEVER = (401, 405, 405, 405, 405, 405, 405)
NOT_HERE = (405,) * 7
NOT_HERE_BUT_HOME = (302,) * 7  # a choice of language is a POST; a GET leads back and changes nothing

LINES = [
    Line("", "/", PAGE),
    Line("", "/?team=nlp", OF_A_TEAM),
    Line("", "/", NOT_HERE, "POST"),
    Line("teams.csv", "/teams.csv", PAGE),
    Line("teams.csv", "/teams.csv?team=nlp", OF_A_TEAM),
    Line("idle/", "/idle/", PAGE),
    Line("idle/", "/idle/?team=nlp", OF_A_TEAM),
    Line("idle/top/", "/idle/top/?team=nlp", OF_A_TEAM),
    # the fleet: the map, machines, jobs
    Line("fleet/", "/fleet/", PAGE),
    Line("fleet/", "/fleet/?team=nlp", OF_A_TEAM),
    Line("fleet/", "/fleet/?group=team&state=held&open=nlp", PAGE),
    Line("fleet/", "/fleet/?state=no-such", (302, 400, 400, 400, 400, 400, 400)),
    Line("fleet/", "/fleet/", NOT_HERE, "POST"),
    Line("instances/", "/instances/", PAGE),
    Line("instances/", "/instances/?team=nlp", OF_A_TEAM),
    Line("instances/", "/instances/?team=nlp&as=csv", OF_A_TEAM),
    Line("instances/", "/instances/?sort=no-such", (302, 400, 400, 400, 400, 400, 400)),
    Line("instances/", "/instances/", NOT_HERE, "POST"),
    Line("instances/<str:account>/<path:external_id>/", "/instances/lab/box-1001/", OF_A_TEAM),
    Line("instances/<str:account>/<path:external_id>/", "/instances/lab/box-1001/?period=7d", OF_A_TEAM),
    Line("instances/<str:account>/<path:external_id>/", "/instances/lab/box-1001/?as=csv", OF_A_TEAM),
    Line("instances/<str:account>/<path:external_id>/", "/instances/lab/box-1001/", NOT_HERE, "POST"),
    Line("jobs/", "/jobs/", PAGE),
    Line("jobs/", "/jobs/?team=nlp&when=30d", OF_A_TEAM),
    Line("jobs/", "/jobs/?team=nlp&as=xlsx", OF_A_TEAM),
    Line("jobs/", "/jobs/", NOT_HERE, "POST"),
    Line("jobs/<str:source>/<path:external_id>/", "/jobs/-/job-1001/", OF_A_TEAM),
    Line("jobs/<str:source>/<path:external_id>/", "/jobs/-/job-1001/?as=csv", OF_A_TEAM),
    Line("jobs/<str:source>/<path:external_id>/", "/jobs/-/job-1001/", NOT_HERE, "POST"),
    Line("settings/tokens/", "/settings/tokens/", PAGE),
    Line(
        "settings/tokens/",
        "/settings/tokens/",
        (302, 400, 201, 201, 201, 201, 201),
        "POST",
        {"name": "ci", "days": "30", "team": "nlp"},
    ),
    Line(
        "settings/tokens/", "/settings/tokens/", (302, 404, 404, 404, 404, 404, 404), "POST", {"revoke": "zzzzzzzzzz"}
    ),
    # money: teams, prices, what is unassigned
    Line("teams/", "/teams/", PAGE),
    Line("teams/", "/teams/?by=cost_center&as=csv-raw", PAGE),
    Line("teams/", "/teams/?by=nothing", (302, 400, 400, 400, 400, 400, 400)),
    Line("teams/", "/teams/?team=nlp", OF_A_TEAM),
    Line("teams/<str:name>/", "/teams/nlp/", OF_A_TEAM),
    Line("teams/<str:name>/", "/teams/nlp/?as=xlsx", OF_A_TEAM),
    Line("teams/<str:name>/", "/teams/nlp/", NOT_HERE, "POST"),
    Line("prices/", "/prices/", (302, 403, 403, 403, 200, 200, 200)),
    Line("prices/", "/prices/?as=csv-raw", (302, 403, 403, 403, 200, 200, 200)),
    Line("prices/", "/prices/", (302, 403, 403, 403, 400, 403, 400), "POST", {"act": "set", "price": "x"}),
    Line("prices/", "/prices/", (302, 403, 403, 403, 400, 403, 400), "POST", {"act": "end", "price": "999"}),
    Line("unassigned/", "/unassigned/", PAGE),
    Line("unassigned/", "/unassigned/?as=csv", PAGE),
    Line("unassigned/", "/unassigned/", (302, 400, 400, 400, 400, 400, 400), "POST", {"act": "no-such"}),
    Line(
        "unassigned/",
        "/unassigned/",
        (302, 404, 404, 404, 403, 403, 400),
        "POST",
        {"act": "claim", "team": "nlp", "kind": "instance", "id": "999999999", "since": "now"},
    ),
    Line(
        "unassigned/", "/unassigned/", (302, 404, 404, 404, 404, 404, 404), "POST", {"act": "take_back", "claim": "9"}
    ),
    # sources, first run, settings
    Line("sources/", "/sources/", PAGE),
    Line("sources/", "/sources/", NOT_HERE, "POST"),
    Line("sources/check/", "/sources/check/", (302, 403, 403, 403, 403, 403, 200), "POST"),
    Line("sources/check/", "/sources/check/", NOT_HERE),
    Line("sources/<str:name>/", "/sources/prom-main/", (302, 404, 404, 404, 200, 200, 200)),
    Line("start/", "/start/", ADMINS),
    Line("settings/", "/settings/", ADMINS),
    Line("settings/", "/settings/", (302, 403, 403, 403, 403, 403, 400), "POST", {"act": "organization", "name": ""}),
    Line("settings/", "/settings/", (302, 403, 403, 403, 403, 403, 404), "POST", {"act": "test", "channel": "no-such"}),
    Line("settings/fleet.yaml", "/settings/fleet.yaml", ADMINS),
    Line("settings/sections/<slug:name>/", "/settings/sections/policies/", ADMINS),
    Line("settings/sections/<slug:name>/", "/settings/sections/no-such/", (302, 403, 403, 403, 403, 403, 404)),
    Line(
        "start/", "/start/", (302, 403, 403, 403, 403, 403, 400), "POST", {"act": "connect", "url": "http://10.0.0.1"}
    ),
    Line("start/progress/", "/start/progress/", ADMINS),
    # help, the design system, search
    Line("design/", "/design/", PAGE),
    Line("design/", "/design/?as=xlsx", PAGE),
    Line("design/", "/design/?sort=nothing", (302, 400, 400, 400, 400, 400, 400)),
    Line("search/", "/search/?q=box", PAGE),
    Line("search/", "/search/?q=box&part=list", PAGE),
    Line("search/", "/search/", NOT_HERE, "POST"),
    Line("views/", "/views/", PAGE),
    Line("views/", "/views/", (302,) * 7, "POST", {"act": "save", "name": "x", "path": "/?team=nlp"}),
    Line("views/", "/views/", (302, 400, 400, 400, 400, 400, 400), "POST", {"act": "save", "name": "x", "path": "//a"}),
    Line("views/", "/views/", (302, 400, 400, 400, 400, 400, 400), "POST", {"act": "remove", "view": "9"}),
    Line("help/", "/help/", PAGE),
    Line("help/<slug:name>/", "/help/money/", PAGE),
    Line("help/<slug:name>/", "/help/no-such/", (302, 404, 404, 404, 404, 404, 404)),
    # people, roles, teams, invitations, audit
    Line("settings/people/", "/settings/people/", (302, 403, 403, 200, 403, 403, 200)),
    Line("settings/people/", "/settings/people/", (302, 403, 403, 400, 403, 403, 400), "POST", {"act": "no-such"}),
    Line(
        "settings/people/",
        "/settings/people/",
        (302, 403, 403, 403, 403, 403, 201),
        "POST",
        {"act": "add", "email": "new@example.com", "role": "admin", "team": ""},
    ),
    Line(
        "settings/people/",
        "/settings/people/",
        (302, 403, 403, 404, 403, 403, 404),
        "POST",
        {"act": "remove", "grant": "9"},
    ),
    Line(
        "settings/people/",
        "/settings/people/",
        (302, 403, 403, 403, 403, 403, 404),
        "POST",
        {"act": "off", "person": "9"},
    ),
    Line("settings/teams/", "/settings/teams/", ADMINS),
    Line(
        "settings/teams/",
        "/settings/teams/",
        (302, 403, 403, 403, 403, 403, 400),
        "POST",
        {"act": "make", "name": "", "parent": "", "cost_center": ""},
    ),
    Line("invitations/<str:token>/", "/invitations/none/", (404,) * 7),
    Line("invitations/<str:token>/", "/invitations/none/", (404,) * 7, "POST", {"name": "x", "password": "y"}),
    Line("audit/", "/audit/", (302, 403, 403, 403, 200, 403, 200)),
    Line("audit/", "/audit/", NOT_HERE, "POST"),
    Line("sign-in/", "/sign-in/", (200, 302, 302, 302, 302, 302, 302)),
    Line("sign-in/", "/sign-in/", (400, 302, 302, 302, 302, 302, 302), "POST"),
    Line("sign-out/", "/sign-out/", NOT_HERE),
    Line("sign-out/", "/sign-out/", (302,) * 7, "POST"),
    Line("language/", "/language/", NOT_HERE_BUT_HOME),
    Line("language/", "/language/", (302,) * 7, "POST", {"language": "zh-hans"}),
    Line("healthz", "/healthz", OPEN),
    Line("readyz", "/readyz", (503,) * 7),
    Line("metrics", "/metrics", OPEN),
    Line("api/schema/", "/api/schema/", OPEN),
    Line("api/docs/", "/api/docs/", PAGE),
    Line("api/.*$", "/api/v1/no-such/", (401, 404, 404, 404, 404, 404, 404)),
    Line("api/v1/instances/", "/api/v1/instances/", API),
    Line("api/v1/instances/", "/api/v1/instances/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/instances/", "/api/v1/instances/", NEVER, "POST"),
    Line("api/v1/instances/<str:account>/<path:external_id>/", "/api/v1/instances/lab/box-1001/", API_OF_A_TEAM),
    Line("api/v1/instances/<str:account>/<path:external_id>/", "/api/v1/instances/lab/box-1001/", NEVER, "DELETE"),
    Line("api/v1/gpus/", "/api/v1/gpus/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/gpus/", "/api/v1/gpus/", NEVER, "POST"),
    Line("api/v1/jobs/", "/api/v1/jobs/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/jobs/", "/api/v1/jobs/", NEVER, "POST"),
    Line("api/v1/findings/", "/api/v1/findings/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/findings/", "/api/v1/findings/", NEVER, "PATCH"),
    Line("api/v1/sources/", "/api/v1/sources/", API),
    Line("api/v1/sources/", "/api/v1/sources/", NEVER, "POST"),
    Line("api/v1/spend/", f"/api/v1/spend/?month={MONTH}&team=nlp", API_OF_A_TEAM),
    Line("api/v1/spend/", "/api/v1/spend/", NEVER, "POST"),
    Line("api/v1/runtime/", f"/api/v1/runtime/?month={MONTH}&team=nlp", API_OF_A_TEAM),
    Line("api/v1/runtime/", "/api/v1/runtime/", NEVER, "POST"),
    Line("api/v1/prices/", "/api/v1/prices/", API_OF_ALL),
    Line("api/v1/prices/", "/api/v1/prices/", (401, 403, 403, 403, 405, 405, 405), "PUT"),
    Line("api/v1/alerts/", "/api/v1/alerts/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/alerts/", "/api/v1/alerts/", NEVER, "POST"),
    Line("api/v1/deliveries/", "/api/v1/deliveries/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/deliveries/", "/api/v1/deliveries/", NEVER, "POST"),
    Line("api/v1/idle/", "/api/v1/idle/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/idle/", "/api/v1/idle/", NEVER, "POST"),
    Line("api/v1/fleet/", "/api/v1/fleet/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/fleet/", "/api/v1/fleet/", NEVER, "POST"),
    Line("api/v1/people/", "/api/v1/people/", (401, 403, 403, 200, 403, 403, 200)),
    Line("api/v1/people/", "/api/v1/people/", (401, 403, 403, 405, 403, 403, 405), "POST"),
    Line("api/v1/invitations/", "/api/v1/invitations/", (401, 403, 403, 200, 403, 403, 200)),
    Line("api/v1/invitations/", "/api/v1/invitations/", (401, 403, 403, 405, 403, 403, 405), "POST"),
    Line("api/v1/roles/", "/api/v1/roles/", API),
    Line("api/v1/roles/", "/api/v1/roles/", NEVER, "POST"),
    Line("api/v1/views/", "/api/v1/views/", API),
    Line("api/v1/views/", "/api/v1/views/", NEVER, "POST"),
    Line("api/v1/settings/", "/api/v1/settings/", (401, 403, 403, 403, 403, 403, 200)),
    Line("api/v1/settings/", "/api/v1/settings/", (401, 403, 403, 403, 403, 403, 405), "PUT"),
    Line("api/v1/jobs/<str:source>/<path:external_id>/", "/api/v1/jobs/-/job-1001/", API_OF_A_TEAM),
    Line("api/v1/jobs/<str:source>/<path:external_id>/", "/api/v1/jobs/-/job-1001/", NEVER, "DELETE"),
    Line("api/v1/team-months/", "/api/v1/team-months/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/team-months/", "/api/v1/team-months/?by=cost_center", API),
    Line("api/v1/team-months/", "/api/v1/team-months/", NEVER, "POST"),
    Line("api/v1/unassigned/", "/api/v1/unassigned/", API),
    Line("api/v1/unassigned/", "/api/v1/unassigned/", NEVER, "POST"),
    Line("api/v1/claims/", "/api/v1/claims/", API),
    Line("api/v1/claims/", "/api/v1/claims/", NEVER, "POST"),
    Line("api/v1/sources/<str:name>/", "/api/v1/sources/prom-main/", API_OF_ALL),
    Line("api/v1/sources/<str:name>/", "/api/v1/sources/no-such/", (401, 403, 403, 403, 404, 404, 404)),
    Line("api/v1/sources/<str:name>/", "/api/v1/sources/prom-main/", (401, 403, 403, 403, 405, 405, 405), "DELETE"),
    Line("api/v1/unseen/", "/api/v1/unseen/?team=nlp", API_OF_A_TEAM),
    Line("api/v1/unseen/", "/api/v1/unseen/", NEVER, "POST"),
    Line("api/v1/accounts/", "/api/v1/accounts/", API_OF_ALL),
    Line("api/v1/accounts/", "/api/v1/accounts/", (401, 403, 403, 403, 405, 405, 405), "POST"),
    Line("api/v1/passes/", "/api/v1/passes/", API_OF_ALL),
    Line("api/v1/passes/", "/api/v1/passes/", (401, 403, 403, 403, 405, 405, 405), "POST"),
    Line("api/v1/teams/", "/api/v1/teams/", API),
    Line("api/v1/teams/", "/api/v1/teams/", NEVER, "POST"),
    Line("api/v1/audit/", "/api/v1/audit/", (401, 403, 403, 403, 200, 403, 200)),
    Line("api/v1/audit/", "/api/v1/audit/", (401, 403, 403, 403, 405, 403, 405), "DELETE"),
]
