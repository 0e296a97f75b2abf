"""People and roles by hand: who may give what, who may not, and what a refusal leaves as it was."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client

from common.clock import real_now
from common.errors import BadInput, Refused
from people.actions.grants import add_grant, remove_grant, switch_off, switch_on
from people.actions.invitations import GOOD_FOR, accept, invite, resend, revoke
from people.actions.tokens import create_token, token_for
from people.models import ApiToken, AuditEvent, Invitation, RoleGrant, Team, User
from people.queries.invitations import find, path_of
from tests.support.page_data import PASSWORD, company, person

pytestmark = pytest.mark.django_db
NEW = "new@example.com"
GOOD = "quartz lantern meadow"


@pytest.fixture
def teams() -> dict[str, Team]:
    return company()


@pytest.fixture
def ada() -> User:
    return person("ada@example.com", ("admin", None), password=PASSWORD)


@pytest.fixture
def lead(teams: dict[str, Team]) -> User:
    return person("lead@example.com", ("team_lead", teams["nlp"]), password=PASSWORD)


def acts() -> tuple[int, int, int]:
    return RoleGrant.objects.count(), Invitation.objects.count(), AuditEvent.objects.count()


def page(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def post(client: Client, **form: str) -> int:
    return int(client.post("/settings/people/", form).status_code)


# --- what a lead may give ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("role", "team"), [("viewer", "nlp"), ("engineer", "nlp"), ("engineer", "nlp-eval")])
def test_a_lead_gives_small_roles_of_their_teams(lead: User, teams: dict[str, Team], role: str, team: str) -> None:
    dev = person("dev@example.com", password=PASSWORD)
    assert post(page(lead), act="add", email="Dev@example.com", role=role, team=str(teams[team].pk)) == 302
    assert list(dev.grants.values_list("role", "team__name")) == [(role, team)]
    event = AuditEvent.objects.get(action="grant_role")
    assert (event.by, event.subject, event.details) == (lead.email, dev.email, {"role": role, "team": team})


@pytest.mark.parametrize(
    ("role", "team"),
    [
        ("team_lead", "nlp"),
        ("finance", "nlp"),
        ("finance", None),
        ("admin", None),
        ("admin", "nlp"),
        ("engineer", "vision"),
        ("viewer", None),
    ],
)
@pytest.mark.parametrize("whom", ["dev@example.com", "lead@example.com", NEW])
def test_a_lead_gives_nothing_else(lead: User, teams: dict[str, Team], role: str, team: str | None, whom: str) -> None:
    person("dev@example.com", password=PASSWORD)
    before = acts()
    team_id = str(teams[team].pk) if team else ""
    assert post(page(lead), act="add", email=whom, role=role, team=team_id) == 403
    assert acts() == before


@pytest.mark.parametrize("role", ["viewer", "engineer", "finance"])
@pytest.mark.parametrize("everywhere", [True, False])
def test_other_roles_give_nothing(teams: dict[str, Team], role: str, everywhere: bool) -> None:
    one = person("one@example.com", (role, None if everywhere else teams["nlp"]), password=PASSWORD)
    before = acts()
    for form in (
        {"act": "add", "email": one.email, "role": "admin", "team": ""},
        {"act": "add", "email": NEW, "role": "viewer", "team": str(teams["nlp"].pk)},
        {"act": "off", "person": str(one.pk)},
    ):
        assert post(page(one), **form) == 403
    with pytest.raises(Refused, match="role does not cover"):
        add_grant(now=real_now(), by=one, email=one.email, role="admin", team_id=None)
    assert acts() == before


def test_a_role_of_a_team_makes_no_admin_of_everything(teams: dict[str, Team]) -> None:
    small = person("small@example.com", ("admin", teams["nlp"]), password=PASSWORD)
    before = acts()
    with pytest.raises(Refused) as refused:
        add_grant(now=real_now(), by=small, email=small.email, role="admin", team_id=None)
    assert (refused.value.code, acts()) == ("not_permitted", before)


def test_a_lead_sees_their_people_and_only_what_concerns_their_teams(lead: User, teams: dict[str, Team]) -> None:
    person("both@example.com", ("engineer", teams["nlp"]), ("finance", teams["vision"]))
    person("other@example.com", ("engineer", teams["vision"]))
    answer = page(lead).get("/settings/people/")
    assert "other@example.com" not in answer.content.decode()
    shown = {one.email: [(grant.role, grant.team) for grant in one.grants] for one in answer.context["people"]}
    assert shown == {"both@example.com": [("engineer", "nlp")], "lead@example.com": [("team_lead", "nlp")]}


def test_a_lead_takes_small_roles_of_their_teams_and_nothing_else(lead: User, teams: dict[str, Team]) -> None:
    both = person("both@example.com", ("engineer", teams["nlp-eval"]), ("engineer", teams["vision"]))
    mine, others = both.grants.get(team=teams["nlp-eval"]), both.grants.get(team=teams["vision"])
    own = lead.grants.get()
    assert post(page(lead), act="remove", grant=str(others.pk)) == 403
    assert post(page(lead), act="remove", grant=str(own.pk)) == 403
    assert post(page(lead), act="remove", grant=str(mine.pk)) == 302
    assert set(RoleGrant.objects.values_list("pk", flat=True)) == {others.pk, own.pk}


# --- admins -----------------------------------------------------------------------------------------------------------


def test_the_last_admin_stays(ada: User) -> None:
    mute = person("mute@example.com", ("admin", None))  # can't sign in, so is no help
    before = acts()
    grant = ada.grants.get()
    with pytest.raises(Refused) as refused:
        remove_grant(now=real_now(), by=ada, grant_id=grant.pk)
    assert refused.value.code == "last_admin"
    with pytest.raises(Refused) as refused:
        switch_off(now=real_now(), by=ada, user_id=ada.pk)
    assert (refused.value.code, acts()) == ("last_admin", before)
    ada.refresh_from_db()
    assert ada.is_active
    remove_grant(now=real_now(), by=ada, grant_id=mute.grants.get().pk)
    assert not mute.grants.exists()


def test_roles_of_the_file_are_left_to_the_file(ada: User, teams: dict[str, Team]) -> None:
    dev = person("dev@example.com", ("engineer", teams["nlp"]), password=PASSWORD)
    dev.declared = {"email": dev.email, "roles": [{"role": "engineer", "team": "nlp"}]}
    dev.save()
    before = acts()
    assert post(page(ada), act="add", email=dev.email, role="viewer", team="") == 400
    assert post(page(ada), act="remove", grant=str(dev.grants.get().pk)) == 400
    assert acts() == before


def test_switching_off_ends_sessions_tokens_and_invitations_for_good(ada: User, teams: dict[str, Team]) -> None:
    dev = person("dev@example.com", ("engineer", teams["nlp"]), password=PASSWORD)
    now = real_now()
    secret = create_token(now=now, by=dev.email, owner=dev.email, name="ci", days=9).secret
    client = Client()
    client.login(username=dev.email, password=PASSWORD)
    assert client.get("/").status_code == 200
    assert post(page(ada), act="off", person=str(dev.pk)) == 302
    assert client.get("/").status_code == 302
    assert token_for(secret, now=now) is None
    switch_on(now=now, by=ada, user_id=dev.pk)
    assert client.get("/").status_code == 302, "an old session must not come back to life"
    assert token_for(secret, now=now) is None
    assert ApiToken.objects.get().revoked_at is not None
    assert client.login(username=dev.email, password=PASSWORD)
    assert client.get("/").status_code == 200
    told = AuditEvent.objects.filter(subject=dev.email).exclude(action="sign_in")
    assert list(told.values_list("action", flat=True)) == ["switch_off", "switch_on"]


# --- invitations ------------------------------------------------------------------------------------------------------


def test_an_invited_person_comes_in_once(ada: User, teams: dict[str, Team]) -> None:
    answer = page(ada).post(
        "/settings/people/", {"act": "add", "email": NEW, "role": "engineer", "team": teams["nlp"].pk}
    )
    assert answer.status_code == 201
    path = "/" + answer.context["link"].split("/", 3)[3]
    token = path.split("/")[2]
    row = Invitation.objects.get()
    assert token not in str([row.prefix, row.digest]), "the database alone must not open the door"
    assert path not in page(ada).get("/settings/people/").content.decode(), "it is shown once"
    client = Client()
    before = acts()
    assert client.get(path).status_code == 200
    assert (acts(), User.objects.filter(email=NEW).exists()) == (before, False), "looking changes nothing"
    assert client.post(path, {"name": "New", "password": "short"}).status_code == 400
    assert client.post(path, {"name": "New", "password": "new@example.com1"}).status_code == 400
    assert not User.objects.filter(email=NEW).exists()
    assert client.post(path, {"name": "New Person", "password": GOOD}).status_code == 302
    assert client.get("/").status_code == 200
    user = User.objects.get(email=NEW)
    assert (user.name, list(user.grants.values_list("role", "team__name"))) == ("New Person", [("engineer", "nlp")])
    again = Client().post(path, {"name": "Thief", "password": GOOD + "x"})
    assert again.status_code == 404
    user.refresh_from_db()
    assert user.check_password(GOOD)
    assert AuditEvent.objects.filter(action="accept_invitation", by=NEW).count() == 1


def refused_with(code: str, token: str, now: object = None) -> None:
    before = (*acts(), User.objects.count())
    with pytest.raises((BadInput, Refused)) as refused:
        accept(now=now or real_now(), token=token, name="Eve", password=GOOD)  # type: ignore[arg-type]
    assert (refused.value.code, (*acts(), User.objects.count())) == (code, before)


def test_a_link_that_is_over_opens_nothing(ada: User) -> None:
    now = real_now()
    made = invite(now=now, by=ada, email=NEW, role="viewer", team_id=None)
    refused_with("bad_invitation", made.token, now + GOOD_FOR)
    refused_with("bad_invitation", made.token[:-1] + ("0" if made.token[-1] != "0" else "1"))
    refused_with("bad_invitation", made.invitation.digest)
    newer = resend(now=now, by=ada, invitation_id=made.invitation.pk)
    refused_with("bad_invitation", made.token)
    assert find(newer.token, now=now) is not None
    assert path_of(made.invitation.pk) == (f"/invitations/{newer.token}/", "Ada")
    revoke(now=now, by=ada, invitation_id=made.invitation.pk)
    refused_with("bad_invitation", newer.token)


def test_nobody_who_is_switched_off_comes_in_by_an_invitation(ada: User, teams: dict[str, Team]) -> None:
    now = real_now()
    mute = person("mute@example.com", ("engineer", teams["nlp"]))
    token = invite(now=now, by=ada, email=mute.email, role="viewer", team_id=None).token
    switch_off(now=now, by=ada, user_id=mute.pk)
    refused_with("bad_invitation", token)
    with pytest.raises(Refused) as refused:
        invite(now=now, by=ada, email=mute.email, role="viewer", team_id=None)
    assert refused.value.code == "switched_off"


def test_an_invitation_is_worth_what_its_sender_may_do(ada: User, lead: User, teams: dict[str, Team]) -> None:
    now = real_now()
    token = invite(now=now, by=lead, email=NEW, role="engineer", team_id=teams["nlp"].pk).token
    lead.grants.all().delete()
    refused_with("inviter_lost_right", token)
    RoleGrant.objects.create(user=lead, role="team_lead", team=teams["nlp"])
    switch_off(now=now, by=ada, user_id=lead.pk)
    refused_with("inviter_lost_right", token)


def test_a_lead_can_neither_see_nor_end_the_invitations_of_others(
    ada: User, lead: User, teams: dict[str, Team]
) -> None:
    made = invite(now=real_now(), by=ada, email=NEW, role="engineer", team_id=teams["vision"].pk)
    before = acts()
    for act in ("revoke", "resend"):
        assert post(page(lead), act=act, invitation=str(made.invitation.pk)) == 403
    assert acts() == before
    assert NEW not in page(lead).get("/settings/people/").content.decode()


def test_an_invitation_sets_the_password_of_somebody_in_the_file(ada: User, teams: dict[str, Team]) -> None:
    dev = person("dev@example.com", ("engineer", teams["nlp"]))
    dev.declared = {"email": dev.email, "roles": [{"role": "engineer", "team": "nlp"}]}
    dev.save()
    made = invite(now=real_now(), by=ada, email=dev.email, role="admin", team_id=None)
    accept(now=real_now(), token=made.token, name="Dev", password=GOOD)
    assert list(dev.grants.values_list("role", "team__name")) == [("engineer", "nlp")], "never more than the file gives"


def test_old_invitations_make_room(ada: User) -> None:
    now = real_now()
    first = invite(now=now, by=ada, email=NEW, role="viewer", team_id=None)
    with pytest.raises(Refused, match="invited already"):
        invite(now=now, by=ada, email=NEW.upper(), role="viewer", team_id=None)
    second = invite(now=now + GOOD_FOR + timedelta(seconds=1), by=ada, email=NEW, role="viewer", team_id=None)
    assert first.token != second.token
    assert Invitation.objects.filter(revoked_at=None).count() == 1


def test_the_page_asks_little(ada: User, teams: dict[str, Team], django_assert_max_num_queries: object) -> None:
    for number in range(30):
        person(f"p{number}@example.com", ("engineer", teams["nlp"]), ("viewer", None))
    client = page(ada)
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        assert client.get("/settings/people/").status_code == 200
