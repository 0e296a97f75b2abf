"""What every channel promises (`alerts.domain.ports.Channel`), against a real other side."""

from __future__ import annotations

import smtplib
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings

from alerts.channels import email, posting
from alerts.domain.ports import Accepted, Channel, ChannelError, Ids, Rendered
from common.http import Limits
from tests.adapters.alerts.doubles import HttpDouble, MailDouble, double
from tests.support.scripted_http import Answer, ScriptedServer

NOW = datetime(2025, 6, 3, 10, tzinfo=UTC)
KEY = "0d0c3f3e-7a0b-4f2e-9d53-5f2f4f9f4f11"
IDS = Ids(KEY, (7, 8))
NASTY = 'a<!channel>&"\r\nBcc: all@example.com\u202eb'
WORDS = Rendered(
    kind="alert", title="i-1 is idle", sentence="All 8 GPUs stayed under 5 %.", lines=(("Cost an hour", "$16.00"),),
    link="https://fleet.example.com/i/1?a=1&b=2", link_text="Open it", organization="Example", reason="You own it.",
    data={"facts": {"minutes": 60}},
)  # fmt: skip


def test_every_declared_kind_is_in_this_suite() -> None:
    assert sorted(settings.ALERT_CHANNELS) == ["email", "slack_webhook", "webhook"]


@pytest.fixture(params=["slack_webhook", "webhook", "email"])
def other(request: pytest.FixtureRequest, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("HOOK_SECRET", "verysecret")
    with double(request.param) as side:
        if isinstance(side, MailDouble):
            settings.EMAIL_URL = side.sink.url
        yield side


def send(other: Any, words: Rendered = WORDS, ids: Ids = IDS) -> Accepted:
    channel: Channel = other.channel
    return channel.send(words, other.to, ids, NOW)


def failure(other: Any, words: Rendered = WORDS) -> ChannelError:
    with pytest.raises(ChannelError) as error:
        send(other, words)
    assert "verysecret" not in repr(error.value)
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return error.value


def test_accepted(other: Any) -> None:
    other.accept()
    assert send(other).status in {200, 250}
    [text] = other.texts()
    for part in (
        "i-1 is idle",
        "All 8 GPUs stayed under 5 %.",
        "Cost an hour",
        "$16.00",
        "https://fleet.example.com/i/1?a=1",
    ):
        assert part in text
    assert "verysecret" not in text


def test_the_same_id_on_every_try(other: Any) -> None:
    other.accept()
    send(other)
    other.accept()
    send(other)
    assert other.ids() == [KEY, KEY]


def test_the_time_is_said_when_it_was_given(other: Any) -> None:
    other.accept()
    send(other)
    other.accept()
    send(other, ids=Ids(KEY, (7,), given_time=True))
    assert other.times() == [None, "2025-06-03T10:00:00Z"]


def test_postponed(other: Any) -> None:
    other.postpone()
    error = failure(other)
    assert (error.permanent, error.unknown) == (False, False)
    assert error.status in {503, 451}


def test_refused(other: Any) -> None:
    other.refuse()
    error = failure(other)
    assert error.permanent
    assert error.status in {404, 554}


def test_silence_after_it_was_sent_is_unknown(other: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(email, "SECONDS", 0.3)
    monkeypatch.setattr(posting, "LIMITS", Limits(total_seconds=0.3))
    other.fall_silent()
    began = time.monotonic()
    error = failure(other)
    assert (error.permanent, error.unknown) == (False, True)
    assert error.detail in {"timeout", "connection_lost"}
    assert time.monotonic() - began < 2


def test_a_channels_own_timeout(scripted_http: ScriptedServer) -> None:
    from alerts.channels.webhook import WebhookChannel

    scripted_http.answer(Answer(200, b"ok", delay_seconds=30))
    channel = WebhookChannel("hook", {"url": scripted_http.url, "test": True, "timeout": "1s"})
    began = time.monotonic()
    with pytest.raises(ChannelError, match="timeout"):
        channel.send(WORDS, "", IDS, NOW)
    assert 0.9 < time.monotonic() - began < 3


def test_nobody_there_is_not_unknown(other: Any, settings: Any) -> None:
    if isinstance(other, MailDouble):
        settings.EMAIL_URL = "smtp://127.0.0.1:1"
    else:
        other.channel.spec["url"] = "http://127.0.0.1:1/verysecret"
    error = failure(other)
    assert (error.permanent, error.unknown, error.detail) == (False, False, "no_connection")


def test_what_is_not_configured_is_an_error_not_a_crash(other: Any, settings: Any) -> None:
    settings.EMAIL_URL = ""
    other.channel.spec["url"] = "env:NOT_SET_ANYWHERE"
    error = failure(other)
    assert not error.permanent
    assert error.detail in {"secret_missing", "no_mail_server"}


def test_names_can_do_nothing(other: Any) -> None:
    other.accept()
    send(other, Rendered(kind="alert", title=NASTY, sentence=NASTY, lines=((NASTY, NASTY),), organization=NASTY))
    [text] = other.texts()
    if isinstance(other, HttpDouble) and other.channel.__class__.__name__ == "WebhookChannel":
        assert other.server.requests[0].json()["title"] == NASTY  # data, and JSON's own escapes keep it there
        return
    assert "\u202e" not in text
    if isinstance(other, MailDouble):
        [mail] = other.sink.messages
        assert mail["Bcc"] is None
        assert other.sink.recipients == [["dev@example.com"]]
        [html] = [part.get_content() for part in mail.walk() if part.get_content_type() == "text/html"]
        assert "<!channel>" not in html
        assert "&lt;!channel&gt;" in html
    else:
        assert "<!channel>" not in text


def test_a_double_is_only_reached_on_this_machine(other: Any, settings: Any) -> None:
    settings.EMAIL_URL = "smtp://10.1.2.3:25"
    other.channel.spec["url"] = "http://10.1.2.3/verysecret"
    error = failure(other)
    assert (error.permanent, error.detail) == (True, "address_refused")


def test_check_says_what_is_missing(other: Any, settings: Any) -> None:
    from common.errors import BadInput

    other.channel.check()
    settings.EMAIL_URL = ""
    other.channel.spec["url"] = ""
    with pytest.raises(BadInput) as error:
        other.channel.check()
    assert error.value.code in {"channel_incomplete", "no_mail_server"}


def test_smtp_words() -> None:
    """Each SMTP failure: how bad, of what, and without the server's own words."""

    def told(error: Exception, *, began: bool = False) -> tuple[str, int | None, bool, str, bool]:
        one = email.failure(error, began=began)
        return one.detail, one.status, one.permanent, one.about, one.unknown

    refused = smtplib.SMTPRecipientsRefused({"a@example.com": (550, b"a@example.com unknown")})
    assert told(refused) == ("recipient_refused", 550, True, "address", False)
    later = smtplib.SMTPRecipientsRefused({"a@example.com": (450, b"grey")})
    assert told(later) == ("recipient_refused", 450, False, "address", False)
    assert told(smtplib.SMTPAuthenticationError(535, b"no")) == ("login_refused", 535, True, "channel", False)
    assert told(smtplib.SMTPSenderRefused(451, b"no", "x")) == ("sender_refused", 451, False, "channel", False)
    assert told(smtplib.SMTPDataError(554, b"spam")) == ("refused", 554, True, "message", False)
    assert told(smtplib.SMTPConnectError(421, b"busy")) == ("refused", 421, False, "channel", False)
    assert told(smtplib.SMTPServerDisconnected("gone"), began=True) == ("connection_lost", None, False, "channel", True)
    assert told(TimeoutError()) == ("timeout", None, False, "channel", False)
