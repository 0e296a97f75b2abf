"""Two people use one invitation at the same moment: one comes in."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from common.clock import real_now
from common.errors import BadInput
from people.actions.invitations import accept, invite
from people.models import AuditEvent, User
from tests.support.page_data import PASSWORD, person


@pytest.mark.django_db(transaction=True)
def test_one_of_two_comes_in() -> None:
    ada = person("ada@example.com", ("admin", None), password=PASSWORD)
    token = invite(now=real_now(), by=ada, email="new@example.com", role="viewer", team_id=None).token
    together = Barrier(2)

    def enter(name: str) -> str:
        together.wait(timeout=10)
        try:
            accept(now=real_now(), token=token, name=name, password=f"quartz lantern meadow {name}")
        except BadInput as error:
            return error.code
        finally:
            connection.close()
        return name

    with ThreadPoolExecutor(2) as pool:
        said = sorted(pool.map(enter, ["One", "Two"]))
    winner = User.objects.get(email="new@example.com")
    assert said == sorted([winner.name, "bad_invitation"])
    assert winner.check_password(f"quartz lantern meadow {winner.name}")
    assert AuditEvent.objects.filter(action="accept_invitation").count() == 1
