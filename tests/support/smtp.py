"""A real SMTP server on loopback that keeps every message, or refuses as told."""

from __future__ import annotations

import logging
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller

from tests.support.processes import free_port

logging.getLogger("mail.log").setLevel(logging.WARNING)  # a line for every connection, from a thread of its own


class SmtpSink:
    """``messages`` holds what arrived; ``refuse_with`` (such as "451 later") answers the next messages instead."""

    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.recipients: list[list[str]] = []
        self.refuse_with: str | None = None
        # aiosmtpd connects to its own port to see whether it is up, so port 0 does not work.
        self.port = free_port()
        self._controller = Controller(self, hostname="127.0.0.1", port=self.port)

    @property
    def url(self) -> str:
        """Give the EMAIL_URL of this server."""
        return f"smtp://127.0.0.1:{self.port}"

    async def handle_DATA(self, server: Any, session: Any, envelope: Any) -> str:
        """Keep the message, or refuse it."""
        if self.refuse_with:
            return self.refuse_with
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        self.recipients.append(list(envelope.rcpt_tos))
        return "250 OK"

    def __enter__(self) -> SmtpSink:
        self._controller.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._controller.stop()
