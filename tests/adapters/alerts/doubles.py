"""The other side of each kind of channel, with one face for the contract suite."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from typing import Any, Protocol

from alerts.channels.email import EmailChannel
from alerts.channels.slack_webhook import SlackWebhookChannel
from alerts.channels.webhook import WebhookChannel
from alerts.domain.ports import Channel
from tests.support.scripted_http import Answer, ScriptedServer
from tests.support.smtp import SmtpSink

SECRET_PATH = "services/T0/B0/verysecret"


class Double(Protocol):
    """What the suite asks of an other side."""

    channel: Channel
    to: str

    def accept(self) -> None: ...
    def postpone(self) -> None: ...
    def refuse(self) -> None: ...
    def fall_silent(self) -> None: ...
    def texts(self) -> list[str]: ...
    def ids(self) -> list[str]: ...
    def times(self) -> list[str | None]: ...


class HttpDouble:
    """Slack or a generic webhook."""

    to = ""

    def __init__(self, server: ScriptedServer, channel: Channel) -> None:
        self.server, self.channel = server, channel

    def accept(self) -> None:
        self.server.answer(Answer(200, b"ok"))

    def postpone(self) -> None:
        self.server.answer(Answer(503, b"SECRET verysecret of the body"))

    def refuse(self) -> None:
        self.server.answer(Answer(404, b"no_service"))

    def fall_silent(self) -> None:
        self.server.answer(Answer(200, b"ok", delay_seconds=30))

    def texts(self) -> list[str]:
        return [request.body.decode() for request in self.server.requests]

    def ids(self) -> list[str]:
        return [request.headers["Idempotency-Key"] for request in self.server.requests]

    def times(self) -> list[str | None]:
        return [request.headers.get("Fleetledger-At") for request in self.server.requests]


class MailDouble:
    """An SMTP server."""

    to = "dev@example.com"

    def __init__(self, sink: SmtpSink) -> None:
        self.sink = sink
        self.channel: Channel = EmailChannel("mail", {"test": True})

    def accept(self) -> None:
        self.sink.refuse_with = None

    def postpone(self) -> None:
        self.sink.refuse_with = "451 verysecret@example.com: try later"

    def refuse(self) -> None:
        self.sink.refuse_with = "554 verysecret@example.com: no"

    def fall_silent(self) -> None:
        async def silent(server: Any, session: Any, envelope: Any) -> str:
            await asyncio.sleep(2)
            return "250 too late"

        self.sink.handle_DATA = silent  # type: ignore[method-assign]

    def texts(self) -> list[str]:
        return ["\n".join([str(mail.items()), *_bodies(mail)]) for mail in self.sink.messages]

    def ids(self) -> list[str]:
        return [str(mail["Message-ID"]).strip("<>").partition("@")[0] for mail in self.sink.messages]

    def times(self) -> list[str | None]:
        return [mail["Fleetledger-At"] for mail in self.sink.messages]


def _bodies(mail: EmailMessage) -> list[str]:
    return [str(part.get_content()) for part in mail.walk() if part.get_content_maintype() == "text"]


@contextmanager
def double(kind: str) -> Iterator[Any]:
    """Give the other side of a channel of ``kind``."""
    if kind == "email":
        with SmtpSink() as sink:
            yield MailDouble(sink)
        return
    with ScriptedServer() as server:
        spec = {"url": f"{server.url}/{SECRET_PATH}", "test": True, "secret": "env:HOOK_SECRET"}
        made: Channel = WebhookChannel("hook", spec) if kind == "webhook" else SlackWebhookChannel("slack", spec)
        yield HttpDouble(server, made)
