"""Twenty-five machines turn idle in one minute: a Slack that says slow down, a Slack that is gone, and e-mail."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from alerts.queries import channel_checks
from common.periods import parse_moment
from tests.support.doors import apply, door
from tests.support.openmetrics import History, fleet, instances, steps, uuid
from tests.support.prometheus import PrometheusStarter
from tests.support.scripted_http import Answer, ScriptedServer
from tests.support.smtp import SmtpSink

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]

NAMES = [f"i-{number:02}" for number in range(1, 26)]


@pytest.fixture
def prometheus_url(prometheus: PrometheusStarter) -> str:
    value = steps(("2025-06-03 08:50", 60), ("2025-06-03 09:05", 0))
    history = History()
    for number, name in enumerate(NAMES):
        labels = {"gpu": "0", "UUID": uuid(number + 1), "Hostname": f"node-{name}"}
        history.add("DCGM_FI_DEV_GPU_UTIL", labels, value, "2025-06-03 08:50", "2025-06-03 10:15")
    return prometheus.backfilled(history.text())


def test_each_alert_arrives_once_everywhere(
    prometheus_url: str, scripted_http: ScriptedServer, smtp_sink: SmtpSink, tmp_path: Path, settings: Any
) -> None:
    settings.EMAIL_URL = smtp_sink.url
    main = iter([*[Answer(429, b"rate_limited", {"Retry-After": "30"})] * 2, *[Answer(200, b"ok")] * 100])
    scripted_http.respond = lambda request: next(main) if request.path == "/main" else Answer(404, b"no_service")
    rows: list[dict[str, object]] = [
        {"id": name, "host": f"node-{name}", "price_per_hour": "3.00", "owner": "dev@example.com"} for name in NAMES
    ]
    machines = instances(*rows)
    slack = {"kind": "slack_webhook", "test": True}
    apply(
        tmp_path,
        fleet(
            prometheus_url,
            machines,
            channels=[
                {"name": "main", **slack, "url": f"{scripted_http.url}/main"},
                {"name": "old", **slack, "url": f"{scripted_http.url}/old"},
                {"name": "mail", "kind": "email", "test": True},
            ],
            routes=[{"match": {"kinds": ["idle"]}, "channels": ["main", "old", "mail"]}],
        ),
    )

    done = door("replay", "--since", "2025-06-03T09:00:00Z", "--until", "2025-06-03T10:15:00Z", "--effects", "real")

    assert (done["effects"], done["calls"]) == ("real", 0)
    alerts = door("alerts")
    idle = [alert for alert in alerts if alert["kind"] == "idle"]
    assert sorted(alert["subject"]["id"] for alert in idle) == NAMES
    assert {(alert["opened_at"], alert["notices"]) for alert in idle} == {("2025-06-03T10:00:00Z", 1)}

    calls = [request for request in scripted_http.requests if request.path == "/main"]
    times = [parse_moment(call.headers["Fleetledger-At"]) for call in calls]
    gaps = [(later - earlier).total_seconds() for earlier, later in pairwise(times)]
    assert gaps[:2] == [30, 30]
    assert min(gaps) >= 1
    taken = [call.body.decode() for call in calls[2:]]
    assert [sum(f"{name} is idle" in text for text in taken) for name in NAMES] == [1] * 25

    mails = [str(mail["Subject"]) for mail in smtp_sink.messages]
    assert sorted(text for text in mails if text.endswith("is idle")) == [f"{name} is idle" for name in NAMES]
    assert {mail["Fleetledger-At"] for mail in smtp_sink.messages} == {"2025-06-03T10:00:00Z"}

    sent = [row for row in door("deliveries") if row["kind"] == "alert" and row["subject"] in NAMES]
    states = {name: {row["state"] for row in sent if row["channel"] == name} for name in ("main", "old", "mail")}
    assert states == {"main": {"sent"}, "old": {"failed"}, "mail": {"sent"}}
    assert sum(request.path == "/old" for request in scripted_http.requests) == 1
    [broken] = [check for check in channel_checks(parse_moment("2025-06-03T10:15:00Z")) if not check.ok]
    assert (broken.subject, broken.code) == ("old", "channel_broken")
    assert broken.message == "Broken since 2025-06-03T10:00:00Z: 404 no_service."
