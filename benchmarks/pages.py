"""Every page, warm, one client, at 1,000 and 10,000 GPUs, 40 teams and 13 months: p95 and the questions asked.

Must reach: p95 under 100 ms, at most 12 questions, within 1.3 times between the two sizes. Processor time of the web
process stands beside, since it does not depend on what else the machine does.
"""

from __future__ import annotations

import os
import statistics
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, setup_databases, setup_test_environment, teardown_databases

from benchmarks.page_fleet import make_company, make_days, make_jobs, make_machines
from common.clock import real_now
from people.models import RoleGrant, User

SIZES = (1_000, 10_000)
ROUNDS = 80
BESIDE = ("BEGIN", "COMMIT", "SET ", "SAVEPOINT", "RELEASE")  # they ask nothing
PAGES = {
    "overview": "/",
    "overview of a manager": "/?as=manager",
    "overview of finance": "/?as=finance",
    "overview of an engineer": "/?as=engineer",
    "overview of a team": "/?team=team-3",
    "teams": "/teams/",
    "cost centres": "/teams/?by=cost_center",
    "a team": "/teams/team-3/",
    "prices": "/prices/",
    "unassigned": "/unassigned/",
    "idle fragment": "/idle/top/",
    "idle list": "/idle/",
    "fleet map": "/fleet/",
    "fleet map by team, one open": "/fleet/?group=team&open=team-3",
    "what is not seen": "/instances/?seen=missing",
    "instances": "/instances/",
    "instances by cost": "/instances/?sort=-cost",
    "instances by use, page 3": "/instances/?sort=-used&page=3",
    "instances of a team": "/instances/?team=team-3&state=held",
    "jobs": "/jobs/",
    "jobs of 30 days by cost": "/jobs/?when=30d&sort=-cost",
    "job": "/jobs/-/run-node-2/",
    "record": "/instances/account-2/node-2/",
    "record, 7 days": "/instances/account-2/node-2/?period=7d",
    "record, 30 days": "/instances/account-2/node-2/?period=30d",
    "teams.csv": "/teams.csv",
    "metrics": "/metrics",
}


def signed_in() -> Client:
    """Give a client of an administrator."""
    user = User.objects.create(email="ingrid@example.com")
    RoleGrant.objects.create(user=user, role="admin")
    client = Client()
    client.force_login(user)
    return client


def milliseconds(client: Client, address: str) -> tuple[list[float], float]:
    """Ask for a page again and again: each time spent, and processor time per answer; the first rounds warm up."""
    spent, processor = [], 0.0
    for index in range(ROUNDS + 10):
        began, worked = time.perf_counter(), time.process_time()
        answer = client.get(address)
        answer.getvalue()
        assert answer.status_code == 200, (address, answer.status_code)
        if index >= 10:
            spent.append(1000 * (time.perf_counter() - began))
            processor += 1000 * (time.process_time() - worked) / ROUNDS
    return spent, processor


def main() -> None:
    """Print one row per page."""
    setup_test_environment()
    kept = setup_databases(verbosity=0, interactive=False)
    try:
        now = real_now()
        make_company(now)
        client = signed_in()
        figures: dict[str, list[tuple[float, float, float, int]]] = {name: [] for name in PAGES}
        for gpus in SIZES:
            make_machines(gpus, now)
            make_jobs(now)
            make_days(now)
            for name, address in PAGES.items():
                spent, processor = milliseconds(client, address)
                with CaptureQueriesContext(connection) as queries:
                    client.get(address).getvalue()
                p95 = statistics.quantiles(spent, n=20)[18]
                asked = sum(not one["sql"].startswith(BESIDE) for one in queries.captured_queries)
                figures[name].append((statistics.median(spent), p95, processor, asked))
        print("| page | questions | median, p95, processor ms at 1,000 GPUs | at 10,000 GPUs | processor grows |")
        print("|---|---|---|---|---|")
        for name, (small, large) in figures.items():
            (of_small, of_large) = (f"{one[0]:.1f}, {one[1]:.1f}, {one[2]:.1f}" for one in (small, large))
            print(f"| {name} | {large[3]} | {of_small} | {of_large} | {large[2] / small[2]:.2f}x |")
    finally:
        teardown_databases(kept, verbosity=0)


if __name__ == "__main__":
    main()
