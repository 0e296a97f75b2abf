"""Rule 9, whole: for one team every address answers the same, byte for byte, whether another team exists or not.

The addresses come from the product itself: every pattern of the URL conf, every link on every page, every filter that a
page offers, and what somebody would try who knows the other team's names. A new page is walked as soon as it is routed.
"""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import partial
from html import unescape
from urllib.parse import quote, urlsplit

import pytest
from django.http import HttpResponseBase
from django.test import Client
from django.urls import get_resolver

from fleet.models import Instance
from people.actions.world import advance_world
from people.models import Team
from people.models.token import ApiCalls
from tests.integration.test_every_door import patterns
from tests.support.door_matrix import LINES
from tests.support.other_team import guest, stray, things_of
from tests.support.page_data import company, person
from tests.support.page_list import PAGES

pytestmark = [pytest.mark.django_db, pytest.mark.slow, pytest.mark.timeout(600)]
NOW = datetime(2025, 6, 18, 10, 30, tzinfo=UTC)  # the world is replayed, so that no age moves between two looks
OURS, THEIRS = "azurite", "zircon"
THEIR_AMOUNT = "48611"
ROLES = ("team_lead", "finance")  # each has pages that the other has not; the rest is less of the same
# Acts, files, and what is the same for everybody: gauges of the installation's own health, texts, the way in.
LEFT_OUT = (
    "/sign-out/", "/sign-in/", "/static/", "/language/", "/metrics", "/healthz", "/readyz", "/api/schema/", "/design/",
    "/help/",
)  # fmt: skip


def tried() -> list[str]:
    """Give what somebody asks who knows the other team's names, for every page: filters, searches, sorts, files."""
    box, team = f"{THEIRS}-box-held", f"team-{THEIRS}"
    values = {
        "team": [team, f"sub-{THEIRS}", "-"], "q": [THEIRS, THEIR_AMOUNT], "owner": [f"owner-{THEIRS}"],
        "account": [f"account-{THEIRS}"], "provider": [f"provider-{THEIRS}"], "instance": [box], "host": [box],
        "open": [team, box], "model": [f"MODEL-{THEIRS}"], "cost_center": [f"cc-{THEIRS}"], "by": ["cost_center"],
        "group": ["team", "account", "model"], "period": ["30d"], "when": ["30d"], "page": ["2"],
        "as": ["csv", "csv-raw", "xlsx", "manager", "engineer", "finance", "admin"], "save": [f"/teams/{team}/"],
        "month": ["2025-06", "2025-05"], "person": [f"lead-{THEIRS}@example.com"], "limit": ["1"],
        "job": [f"space-{THEIRS}/{THEIRS}-job"], "sku": [f"sku-{THEIRS}"], "kind": ["idle"], "state": ["held"],
    }  # fmt: skip
    return [f"{key}={quote(value, safe='')}" for key, many in values.items() for value in many]


def roots() -> list[str]:
    """Give an address for every pattern: as the lists of pages and doors know it, and with the other team's names."""
    found = {address for several in PAGES.values() for address in several}
    found |= {line.address for line in LINES if line.method == "GET"}
    fillings = [
        {"account": f"account-{who}", "external_id": f"{who}-box-held", "name": f"team-{who}", "source": "-",
         "token": f"inv{who}"}
        for who in (OURS, THEIRS)
    ]  # fmt: skip
    fillings += [
        {**one, "external_id": f"space-{who}/{who}-job"} for who, one in zip((OURS, THEIRS), fillings, strict=True)
    ]
    for pattern in patterns(get_resolver().url_patterns):
        for filling in fillings:
            address = re.sub(r"<(?:\w+:)?(\w+)>", partial(_filled, filling), pattern)
            if "$" not in address:
                found.add(f"/{address}")
    return sorted(address for address in found if not address.startswith(LEFT_OUT))


def _filled(names: Mapping[str, str], hit: re.Match[str]) -> str:
    return names[hit[1]]


def text_of(answer: HttpResponseBase) -> str:
    """Give status, headers and body, without what differs from answer to answer by design."""
    body = answer.getvalue()
    if body.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(body)) as book:
            parts = [book.read(name) for name in sorted(book.namelist()) if not name.startswith("docProps")]
        body = b"\n".join(parts)
    words = body.decode()
    words = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", words)
    words = re.sub(r'("X-CSRFToken": ?|&quot;X-CSRFToken&quot;: ?&quot;)\w+', "", words)
    headers = [f"{name}: {answer[name]}" for name in ("Location", "Content-Disposition", "ETag") if name in answer]
    return "\n".join([str(answer.status_code), *headers, words])


def links_in(page: str, at: str) -> Iterable[str]:
    """Give the addresses of ours that a page leads to: links, fragments, what its select boxes would ask for."""
    path = urlsplit(at).path
    for found in re.findall(r'(?:href|hx-get|data-[\w-]*(?:url|href))="([^"#]+)', page):
        address = unescape(found)
        if address.startswith("?"):
            yield path + address
        elif address.startswith("/") and not address.startswith("//"):
            yield address
    for name, options in re.findall(r'<select[^>]* name="(\w+)"[^>]*>(.*?)</select>', page, re.DOTALL):
        for value in re.findall(r'<option[^>]* value="([^"]*)"', options):
            yield f"{path}?{name}={quote(unescape(value), safe='')}"


def walk(client: Client, *, knowing: bool = True) -> dict[str, str]:
    """Ask for every address there is, what can be tried on those that answer, and what the pages offer themselves."""
    asked = {address: look(client, address) for address in roots()}
    open_here = {address.partition("?")[0] for address, answer in asked.items() if answer.startswith("200")}
    wanted = [one for one in tried() if knowing or THEIRS not in one]
    following = [f"{address}?{one}" for address in sorted(open_here) for one in wanted]
    following += [link for address, answer in asked.items() for link in links_in(answer, address)]
    for address in dict.fromkeys(following):
        if address not in asked and not address.startswith(LEFT_OUT):
            asked[address] = look(client, address)
    return asked


def look(client: Client, address: str) -> str:
    """Ask as a page would."""
    ApiCalls.objects.all().delete()
    return text_of(client.get(address))


def ours() -> Team:
    """Make the company with our team alone."""
    company()
    Team.objects.exclude(parent=None).delete()
    Team.objects.all().delete()
    mine = things_of(OURS, "31337", now=NOW)
    advance_world(now=NOW, is_replay=True)
    team = mine["team"]
    assert isinstance(team, Team)
    return team


def theirs() -> None:
    """Add the other team, with a job on our machine and a longer past than ours, and what nobody owns."""
    team = things_of(THEIRS, THEIR_AMOUNT, now=NOW)["team"]
    guest(THEIRS, team, Instance.objects.get(external_id=f"{OURS}-box-held"), THEIR_AMOUNT, now=NOW)
    stray(THEIRS, now=NOW)


@pytest.mark.parametrize("role", ROLES)
def test_nothing_tells_that_another_team_exists(role: str) -> None:
    client = Client()
    client.force_login(person("me@example.com", (role, ours())))
    without = walk(client)
    assert len(without) > 300
    theirs()
    wrong = {}
    for address, before in without.items():
        after = look(client, address)
        if after != before:
            wrong[address] = difference(before, after)
    assert wrong == {}


@pytest.mark.parametrize("role", ROLES)
def test_our_job_on_a_machine_of_theirs_does_not_tell_whose_it_is(role: str) -> None:
    client, team = Client(), ours()
    client.force_login(person("me@example.com", (role, team)))
    theirs()
    guest(OURS, team, Instance.objects.get(external_id=f"{THEIRS}-box-held"), "31337", now=NOW)
    told = {
        address: words
        for address, answer in walk(client, knowing=False).items()
        if not traces(address) and (words := traces(answer))
    }
    assert told == {}


def traces(answer: str) -> list[str]:
    """Give the places of an answer that name the other team."""
    plain = answer.replace(",", "")
    return [plain[max(0, hit.start() - 120) : hit.end() + 60] for hit in re.finditer(f"{THEIRS}|{THEIR_AMOUNT}", plain)]


def difference(before: str, after: str) -> list[str]:
    """Give the first lines that are not the same."""
    pairs = [(one, two) for one, two in zip(before.splitlines(), after.splitlines(), strict=False) if one != two]
    return [f"- {one.strip()[:300]}\n+ {two.strip()[:300]}" for one, two in pairs[:3]] or [
        f"{len(before)} {len(after)}"
    ]
