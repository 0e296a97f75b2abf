"""Pages in the reader's language: what the browser asks for, or what was chosen."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from django.template import Context, Template
from django.test import Client
from django.utils import translation

from common.words import days_text, duration

AT = datetime(2026, 3, 5, 14, 7, tzinfo=UTC)
MOMENT = Template("{% load fleetledger %}{% moment at zone %}")


@pytest.mark.django_db
def test_the_browser_is_asked_first(client: Client) -> None:
    assert 'lang="en"' in client.get("/sign-in/").content.decode()
    assert 'lang="zh-hans"' in client.get("/sign-in/", headers={"Accept-Language": "zh-CN,zh;q=0.9"}).content.decode()
    assert 'lang="en"' in client.get("/sign-in/", headers={"Accept-Language": "fr"}).content.decode()


@pytest.mark.django_db
def test_a_choice_stays_and_leads_back_to_the_page(client: Client) -> None:
    answer = client.post("/language/", {"language": "zh-hans", "next": "/sign-in/?next=/idle/"})
    assert (answer.status_code, answer["Location"]) == (302, "/sign-in/?next=/idle/")
    assert 'lang="zh-hans"' in client.get("/sign-in/").content.decode()
    client.post("/language/", {"language": "xx", "next": "/sign-in/"})
    assert 'lang="zh-hans"' in client.get("/sign-in/").content.decode(), "there is no such language"
    assert client.post("/language/", {"language": "en", "next": "https://example.com/"})["Location"] == "/"


def test_dates_and_lengths_are_written_as_the_language_does() -> None:
    context = Context({"at": AT, "zone": UTC})
    with translation.override("en"):
        assert "5 Mar 2026 14:07 UTC" in MOMENT.render(context)
        assert duration(timedelta(hours=3, minutes=30)) == "3\u00a0h 30\u00a0min"
    with translation.override("zh-hans"):
        assert "2026年3月5日 14:07 UTC" in MOMENT.render(context)


@pytest.mark.parametrize(
    ("first", "last", "english", "chinese"),
    [
        (date(2025, 6, 1), date(2025, 6, 19), "1–19 Jun 2025", "2025年6月1日–19日"),
        (date(2025, 6, 5), date(2025, 7, 4), "5 Jun–4 Jul 2025", "2025年6月5日–7月4日"),
        (date(2024, 12, 5), date(2025, 1, 4), "5 Dec 2024–4 Jan 2025", "2024年12月5日–2025年1月4日"),
        (date(2025, 6, 1), date(2025, 6, 1), "1 Jun 2025", "2025年6月1日"),
    ],
)
def test_ranges_of_days(first: date, last: date, english: str, chinese: str) -> None:
    for language, text in (("en", english), ("zh-hans", chinese)):
        with translation.override(language):
            assert days_text(first, last) == text
