"""The examples of docs/reference/api.md answer, and the error it shows is the one that is given."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from django.test import Client

from config.api.document import openapi
from people.actions.tokens import create_token
from tests.architecture.tree import ROOT
from tests.support.api_world import api_world, fetched, somebody

pytestmark = pytest.mark.django_db
PAGE = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r'^curl -sS -H "Authorization: Bearer \$TOKEN" "\$FL(/[^"]+)"$', PAGE, re.MULTILINE)


def test_every_example_answers_and_every_route_has_one() -> None:
    now = datetime.now(UTC).replace(microsecond=0)
    api_world(now)
    somebody("ada@example.com", ("admin", None))
    made = create_token(now=now, by="x", owner="ada@example.com", name="docs", days=1)
    client = Client(headers={"Authorization": f"Bearer {made.secret}"})
    for address in EXAMPLES:
        fetched(client, address)
    shown = {address.partition("?")[0] for address in EXAMPLES}
    for whole, written in (
        (r"instances/.+/$", "instances/{account}/{external_id}/"),
        (r"jobs/.+/$", "jobs/{source}/{external_id}/"),
        (r"sources/.+/$", "sources/{name}/"),
    ):
        shown = {re.sub(whole, written, path) for path in shown}
    assert shown == set(openapi()["paths"])


def test_the_refusal_is_as_shown() -> None:
    _, client = somebody("ada@example.com", ("admin", None))
    (example,) = re.findall(r"```json\n(.+?)```", PAGE, re.DOTALL)
    assert fetched(client, "/api/v1/instances/?state=idle", 400) == json.loads(example)
