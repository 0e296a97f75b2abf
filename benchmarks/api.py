"""Every list of the API, warm, one client with a token, pages of 100, at 10,000 GPUs, 40 teams and long histories.

Must reach: p95 under 100 ms, at most 12 questions; for who sees all, and for an engineer of one team. A record is made
anew from twelve hours of samples of its machine; run time reads every hour of the instances of its page.
"""

from __future__ import annotations

import gc
import os
import statistics
import time
from datetime import timedelta

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, setup_databases, setup_test_environment, teardown_databases

from benchmarks.api_fleet import JOBS_ENDED, make_lists
from benchmarks.page_fleet import make_company, make_days, make_machines
from common.clock import real_now
from people.actions.tokens import create_token
from people.api import callers
from people.models import RoleGrant, Team, User

GPUS = 10_000
ROUNDS = 40
BESIDE = ("BEGIN", "COMMIT", "SET ", "SAVEPOINT", "RELEASE")  # they ask nothing
ROUTES = (
    "instances/", "instances/?state=held", "gpus/", "jobs/", "jobs/?running=true", "findings/?open=true", "alerts/",
    "deliveries/", "teams/", "sources/", "prices/", "audit/", "spend/?month={month}",
    "spend/?month={month}&group_by=team,day", "team-months/?month={month}", "team-months/?by=cost_center", "idle/",
    "fleet/", "unassigned/", "claims/", "unseen/", "people/", "sources/prom-main/", "accounts/",
    "runtime/?month={month}&limit=10", "runtime/?month={month}",
    "instances/account-3/node-3/", "jobs/-/{job}/",
)  # fmt: skip


def client_of(email: str, role: str, team: Team | None) -> Client:
    """Give a client with a token."""
    user = User.objects.create(email=email)
    RoleGrant.objects.create(user=user, role=role, team=team)
    made = create_token(now=real_now(), by="benchmark", owner=email, name="benchmark", days=1)
    return Client(headers={"Authorization": f"Bearer {made.secret}"})


def measured(client: Client, address: str) -> tuple[int, float, float, float, int]:
    """Give status, median and p95 (ms), processor time (ms), and questions of an address."""
    spent, processor, status = [], 0.0, 0
    for index in range(ROUNDS + 5):
        began, worked = time.perf_counter(), time.process_time()
        status = client.get(address).status_code
        took, used = time.perf_counter() - began, time.process_time() - worked
        if index >= 5:
            spent.append(1000 * took)
            processor += 1000 * used / ROUNDS
    with CaptureQueriesContext(connection) as queries:
        client.get(address)
    asked = sum(not one["sql"].startswith(BESIDE) for one in queries.captured_queries)
    return status, statistics.median(spent), statistics.quantiles(spent, n=20)[18], processor, asked


def main() -> None:
    """Print one row per route and caller."""
    setup_test_environment()
    kept = setup_databases(verbosity=0, interactive=False)
    vars(callers)["CALLS_PER_MINUTE"] = 10**9
    try:
        now = real_now()
        make_company(now)
        make_machines(GPUS, now)
        make_lists(now)
        make_days(now)
        gc.collect()
        gc.freeze()  # a web process never held what the set-up made
        clients = {
            "all": client_of("ingrid@example.com", "admin", None),
            "one team": client_of("ada@example.com", "engineer", Team.objects.get(name="team-3")),
        }
        month = f"{now - timedelta(days=15):%Y-%m}"  # one with hours in it, on the first of a month too
        print("| route | sees | status | questions | median, p95 ms | processor ms |")
        print("|---|---|---|---|---|---|")
        for route in ROUTES:
            for who, client in clients.items():
                address = f"/api/v1/{route.format(month=month, job=JOBS_ENDED + 3)}"
                status, median, p95, processor, questions = measured(client, address)
                print(f"| {route} | {who} | {status} | {questions} | {median:.1f}, {p95:.1f} | {processor:.1f} |")
    finally:
        teardown_databases(kept, verbosity=0)


if __name__ == "__main__":
    main()
