"""The overview: what it says of a month, and what it never says."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from fleet.models import Source, SourcePull
from people.actions.world import advance_world
from people.models import Team
from tests.support.page_data import company, machine, month_of, person, team_day

pytestmark = pytest.mark.django_db
JUNE = date(2025, 6, 1)


@pytest.fixture
def teams() -> dict[str, Team]:
    return company()


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(person("ingrid@example.com", ("viewer", None)))
    return client


def text_of(page: bytes) -> str:
    """Give what a person reads: no markup, one space between words."""
    body = re.sub(r"<script.*?</script>|<svg.*?</svg>", " ", page.decode(), flags=re.DOTALL)
    body = re.sub(r"</?(?:time|strong)\b[^>]*>", "", body)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", body))).replace("\u00a0", " ")


def figure(page: bytes, name: str) -> dict:
    found = re.search(rf'<script id="{name}" type="application/json">(.*?)</script>', page.decode(), re.DOTALL)
    assert found, name
    return json.loads(found[1])


def test_nothing_connected_names_the_two_ways(admin: Client) -> None:
    page = text_of(admin.get("/").content)
    assert "Connect a source" in page
    assert "PROMETHEUS_URL=http://prometheus:9090 make run" in page
    assert "manage.py apply fleet.yaml" in page


def test_a_source_without_numbers_yet_says_when_they_come(admin: Client, teams: dict[str, Team]) -> None:
    page = text_of(admin.get("/").content)
    assert "The first numbers are on their way" in page
    assert "Connect a source" not in page


def test_a_failing_source_shows_error_and_remedy(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    SourcePull.objects.create(
        source=Source.objects.get(), at=now, since=now, until=now,
        error_code="source_refused",
        error_message="Nobody answers at 127.0.0.1:9.", error_hint="Is Prometheus running?",
    )  # fmt: skip
    page = text_of(admin.get("/").content)
    assert "Source prom-main does not answer as it should." in page
    assert "Nobody answers at 127.0.0.1:9. Is Prometheus running?" in page
    assert "No numbers yet They come as soon as the source answers." in page


def test_the_month_is_summed_by_state_and_by_team(admin: Client, teams: dict[str, Team]) -> None:
    team_day(
        JUNE, teams["nlp"], {"working": "60.00", "low": "10", "held": "20.005"}, {"working": 6, "low": 1, "held": 2}
    )
    team_day(JUNE, teams["vision"], {"empty": "9.99"}, {"empty": 1}, storage=Decimal("0.01"))
    team_day(JUNE, None, {"unknown": "5"}, {"unknown": 0.5})
    team_day(JUNE - timedelta(days=1), teams["nlp"], {"working": "1000"}, {"working": 100})
    page = admin.get("/?month=2025-06").content
    read = text_of(page)
    assert "June 2025 comes to $105.00; 29 % of it went to idle GPUs." in read  # 105.005 is rounded half to even
    assert "Utilisation 70.0 % working, of 10 GPU-hours seen" in read
    assert "Idle right now — nothing judged yet" in read
    assert "Without a team $5.00" in read
    page = admin.get("/teams/?month=2025-06&by=each").content
    rows = re.findall(r'<th scope="row" class="pin">.*?</tr>', page.decode(), re.DOTALL)
    assert [text_of(row.encode()).split()[:2] for row in rows] == [
        ["nlp", "$90.00"], ["vision", "$10.00"], ["Unassigned", "$5.00"], ["All", "3"],
    ]  # fmt: skip


def test_pictures_hold_the_same_numbers_and_leave_gaps(admin: Client, teams: dict[str, Team]) -> None:
    team_day(JUNE, teams["nlp"], {"working": "60"}, {"working": 6})
    team_day(date(2025, 6, 3), teams["vision"], {"working": "7", "held": "3"}, {"working": 1, "held": 1})
    page = admin.get("/?month=2025-06").content
    days = figure(page, "days-USD")
    assert [trace["name"] for trace in days["data"]] == ["Working", "Held"]
    assert days["data"][0]["x"][0] == "2025-06-01T12:00"
    assert len(days["data"][0]["x"]) == 30
    assert days["data"][0]["y"][:4] == [60.0, None, 7.0, None]
    assert "1 day without any data" in text_of(page)


def test_unpriced_time_is_counted_apart_and_never_zero(admin: Client, teams: dict[str, Team]) -> None:
    team_day(JUNE, teams["nlp"], {"working": "60"}, {"working": 6})
    team_day(JUNE, teams["vision"], {}, {"working": 12}, unpriced_ms=12 * 3_600_000)
    page = text_of(admin.get("/?month=2025-06").content)
    assert "unpriced: 12 GPU-hours" in page
    page += text_of(admin.get("/teams/?month=2025-06").content)
    assert re.search(r"vision unpriced unpriced .{0,60}unpriced", page)
    assert "vision $0.00" not in page


def test_list_prices_are_marked_with_their_share(admin: Client, teams: dict[str, Team]) -> None:
    team_day(JUNE, teams["nlp"], {"working": "75"}, {"working": 6}, list_price_amount=Decimal(75))
    team_day(JUNE, teams["vision"], {"working": "25"}, {"working": 6})
    page = text_of(admin.get("/?month=2025-06").content)
    assert "0 % billed, all provisional 75 % at list price" in page


def test_currencies_are_never_added(admin: Client, teams: dict[str, Team]) -> None:
    team_day(JUNE, teams["nlp"], {"working": "60"}, {"working": 6})
    team_day(JUNE, teams["nlp"], {"working": "50"}, {"working": 5}, currency="EUR")
    page = text_of(admin.get("/?month=2025-06").content)
    assert "June 2025 comes to $60.00" in page
    assert "June 2025 comes to €50.00" in page
    assert "110" not in page


def test_one_team_with_its_sub_teams(admin: Client, teams: dict[str, Team]) -> None:
    for name, amount in (("nlp", "1"), ("nlp-eval", "2"), ("vision", "4")):
        team_day(JUNE, teams[name], {"working": amount}, {"working": 1})
    team_day(JUNE, None, {"working": "8"}, {"working": 1})
    assert "comes to $3.00" in text_of(admin.get("/?month=2025-06&team=NLP").content)
    assert "comes to $8.00" in text_of(admin.get("/?month=2025-06&team=-").content)
    assert "comes to $15.00" in text_of(admin.get("/?month=2025-06").content)


def test_the_newest_month_with_data_is_shown_first(admin: Client, teams: dict[str, Team]) -> None:
    team_day(date(2025, 4, 30), teams["nlp"], {"working": "1"}, {"working": 1})
    team_day(date(2025, 6, 3), teams["nlp"], {"working": "2"}, {"working": 1})
    page = admin.get("/").content
    assert "June 2025 comes to $2.00" in text_of(page)
    months = re.findall(r'<option value="(\d{4}-\d\d)"', page.decode())
    assert months == ["2025-06", "2025-05", "2025-04"]


def test_a_month_without_data_says_so(admin: Client, teams: dict[str, Team]) -> None:
    team_day(date(2025, 6, 3), teams["nlp"], {"working": "2"}, {"working": 1})
    assert "Nothing was metered in May 2025" in text_of(admin.get("/?month=2025-05").content)


@pytest.mark.parametrize("month", ["2025-13", "junk", "0000-00", "2025-06-01"])
def test_a_bad_month_is_told_and_how_to_write_one(admin: Client, month: str) -> None:
    answer = admin.get("/", {"month": month})
    assert answer.status_code == 400
    assert "Write 2025-06." in text_of(answer.content)


def test_idle_machines_are_listed_dearest_first_and_unpriced_apart(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    team_day(JUNE, teams["nlp"], {"working": "60"}, {"working": 6})
    machine("a-cheap", teams["nlp"], "held", now=now, price="2.50")
    machine("b-dear", teams["vision"], "empty", now=now, price="32.80")
    machine("c-free", teams["vision"], "held", now=now, price="")
    machine("d-busy", teams["vision"], "working", now=now, price="99")
    read = text_of(admin.get("/").content)
    assert "3 idle machines are costing $35.30 an hour right now." in read
    assert "of them 1 unpriced" in read
    page = admin.get("/idle/top/").content
    assert re.findall(r'href="/instances/lab/([a-z-]+)/"', page.decode()) == ["b-dear", "a-cheap", "c-free"]
    assert re.search(r"c-free unpriced Held for 2 h", text_of(page))


def test_every_idle_machine_is_found_page_by_page(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    for index in range(52):
        machine(f"m-{index:02}", teams["nlp"], "held", now=now, price=f"{100 - index}")
    first, second = admin.get("/idle/").content.decode(), admin.get("/idle/?group=idle&page=2").content.decode()
    assert len(re.findall(r'href="/instances/lab/m-\d\d/"', first)) == 50
    assert re.findall(r'href="/instances/lab/(m-\d\d)/"', second) == ["m-50", "m-51"]


def test_evidence_is_read_of_the_machines_that_are_shown(admin: Client, teams: dict[str, Team]) -> None:
    now = datetime.now(UTC)
    for index in range(9):
        machine(f"m-{index}", teams["nlp"], "held", now=now, price=f"{100 - index}")
    for address, shown in (("/idle/top/", 6), ("/idle/", 9)):
        with CaptureQueriesContext(connection) as asked:
            admin.get(address)
        reading = [one["sql"] for one in asked if "v.evidence" in one["sql"]]
        ids = [sql.rpartition("ANY(")[2].partition("}")[0] for sql in reading]
        assert [len(re.findall(r"\d+", one)) for one in ids] == [shown], address


def test_under_replay_the_page_says_so_and_keeps_its_time(admin: Client, teams: dict[str, Team]) -> None:
    world = datetime(2025, 6, 3, 11, tzinfo=UTC)
    advance_world(now=world, is_replay=True)
    team_day(date(2025, 6, 3), teams["nlp"], {"working": "2"}, {"working": 1})
    machine("a", teams["nlp"], "held", now=world)
    page = text_of(admin.get("/").content)
    assert "Replay. This database follows replayed time, which stands at 3 Jun 2025 13:00 CEST." in page
    assert "June 2025 comes to $2.00 so far" in page
    assert "Held for 2 h" in text_of(admin.get("/idle/top/").content)


def test_the_file_is_exact_and_runs_no_formula(admin: Client, teams: dict[str, Team]) -> None:
    evil = Team.objects.create(name='=HYPERLINK("http://evil.example")')
    team_day(JUNE, evil, {"working": "0.123456789"}, {"working": 0.25})
    team_day(JUNE, teams["vision"], {}, {"working": 1}, unpriced_ms=3_600_000)
    answer = admin.get("/teams.csv?month=2025-06")
    lines = answer.getvalue().decode().split("\r\n")
    assert answer["Content-Disposition"] == 'attachment; filename="fleetledger-teams-2025-06-usage.csv"'
    assert lines[0].startswith("\ufeffteam,currency,total,money_working,")
    assert lines[1].startswith('"\'=HYPERLINK(""http://evil.example"")",USD,0.123456789,0.123456789,')
    assert lines[2].startswith("vision,USD,,0,")
    assert lines[3:] == [""]


def test_names_from_outside_are_text_everywhere(admin: Client, teams: dict[str, Team]) -> None:
    evil = Team.objects.create(name="<img src=x onerror=alert(1)>")
    team_day(JUNE, evil, {"working": "60"}, {"working": 6})
    machine("</script><b>x", evil, "held", now=datetime.now(UTC))
    page = admin.get("/?month=2025-06").content
    assert b"<img" not in page
    assert b"<b>x" not in page


def test_every_answer_forbids_inline_code(admin: Client, teams: dict[str, Team]) -> None:
    month_of(teams, JUNE, 30)
    policy = admin.get("/")["Content-Security-Policy"]
    assert "script-src 'self';" in policy + ";"
    assert "style-src 'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='" in policy
    assert "unsafe" not in policy
    assert " style=" not in admin.get("/").content.decode()


def test_a_full_overview_asks_at_most_twelve_questions(
    admin: Client, teams: dict[str, Team], django_assert_max_num_queries: object
) -> None:
    month_of(teams, JUNE, 30)
    now = datetime.now(UTC)
    for index in range(20):
        machine(f"m-{index}", teams["vision"], "held", now=now, price="3" if index % 2 else "")
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert admin.get("/").status_code == 200
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert admin.get("/idle/top/", headers={"HX-Request": "true"}).status_code == 200
