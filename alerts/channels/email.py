"""E-mail over SMTP: HTML with a plain twin, one message per address, stable Message-ID."""

from __future__ import annotations

import contextlib
import smtplib
from collections.abc import Mapping
from datetime import datetime
from email.utils import format_datetime, parseaddr
from typing import Any
from urllib.parse import parse_qs, urlsplit

import environ
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured, ValidationError
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.smtp import EmailBackend
from django.core.validators import validate_email
from django.template.loader import render_to_string

from alerts.domain.escape import link_target, plain
from alerts.domain.ports import Accepted, ChannelError, Ids, Rendered, is_on
from common.errors import BadInput
from common.http import RefusedAddress, checked_addresses
from common.periods import iso

SECONDS = 10
FORM = "Write EMAIL_URL=smtp+tls://user:password@host:587."


class _Watched(smtplib.SMTP):
    """Remembers whether the text of a message was already on its way."""

    text_began = False

    def data(self, msg: Any) -> tuple[int, bytes]:
        """Send the text; from here on a silence may mean that it was taken."""
        self.text_began = True
        code, answer = super().data(msg)
        self.text_began = False
        return code, answer


class _WatchedOverTls(_Watched, smtplib.SMTP_SSL):
    """The same, TLS from the first byte."""


class _Backend(EmailBackend):
    """Django's own, with a connection that knows how far it came."""

    @property
    def connection_class(self) -> type[smtplib.SMTP]:
        """Give the class that Django opens."""
        return _WatchedOverTls if self.use_ssl else _Watched


class EmailChannel:
    """Sends over the server of EMAIL_URL, to the declared addresses or to whoever the message is for."""

    seconds_between = 0.0

    def __init__(self, name: str, spec: Mapping[str, Any]) -> None:
        self.name, self.spec = name, spec

    def addresses(self) -> list[str] | None:
        """Give ``to`` as declared (one or several); None: the owner, else the team's leads, else admins."""
        to = self.spec.get("to")
        if not to:
            return None
        return [to] if isinstance(to, str) else [str(one) for one in to]

    def check(self) -> None:
        """Raise BadInput when there is no mail server or an address is none."""
        server()
        given = [parseaddr(str(self.spec["from"]))[1]] if self.spec.get("from") else []
        for address in [*(self.addresses() or ()), *given]:
            if not is_address(address):
                raise BadInput(
                    "bad_address", f"The channel {self.name} has an address that is none.", hint="Mend to or from."
                )

    def reachable_server(self) -> dict[str, Any]:
        """Give the server's arguments; a test channel's is on this machine. Raises ChannelError."""
        try:
            options = server()
            if is_on(self.spec, "test"):
                checked_addresses(options["host"], options["port"], reach="loopback")
        except BadInput as error:
            raise ChannelError(error.code) from None
        except RefusedAddress:
            raise ChannelError("address_refused", permanent=True) from None
        except OSError:
            raise ChannelError("no_connection") from None
        return options

    def sender(self) -> str:
        """Give the From address: the channel's ``from``, else the installation's."""
        return plain(str(self.spec.get("from") or sender_of(settings.EMAIL_URL, settings.FLEETLEDGER_URL)))

    def send(self, message: Rendered, to: str, ids: Ids, now: datetime) -> Accepted:
        """Send once to one address. Raises ChannelError."""
        sender = self.sender()
        if not is_address(to):
            raise ChannelError("bad_address", permanent=True, about="address")
        options = self.reachable_server()
        backend = _Backend(**options, timeout=SECONDS, fail_silently=False)
        mail = compose(message, to, ids, now, sender=sender)
        try:
            backend.open()
            backend.send_messages([mail])
        except (OSError, smtplib.SMTPException) as error:
            raise failure(error, began=getattr(backend.connection, "text_began", False)) from None
        finally:
            _close(backend)
        return Accepted(250)


def is_address(text: str) -> bool:
    """Say whether ``text`` is one plain e-mail address."""
    try:
        validate_email(text)
    except ValidationError:
        return False
    return True


def server() -> dict[str, Any]:
    """Read EMAIL_URL into the arguments of Django's SMTP backend. Raises BadInput without naming its value."""
    url = settings.EMAIL_URL
    if not url:
        raise BadInput(
            "no_mail_server", "EMAIL_URL is not set.", hint="Set EMAIL_URL=smtp+tls://user:password@host:587."
        )
    try:
        read = environ.Env.email_url_config(url)
        port = int(read.get("EMAIL_PORT") or 25)
        over_tls = bool(read.get("EMAIL_USE_SSL")) or port == 465
        return {
            "host": read["EMAIL_HOST"] or "localhost",
            "port": port,
            "username": read.get("EMAIL_HOST_USER") or "",
            "password": read.get("EMAIL_HOST_PASSWORD") or "",
            "use_ssl": over_tls,
            "use_tls": bool(read.get("EMAIL_USE_TLS")) and not over_tls,
        }
    except (ValueError, KeyError, TypeError, AttributeError, ImproperlyConfigured):
        raise BadInput(
            "bad_email_url", "EMAIL_URL can't be read.", hint="Write smtp+tls://user:password@host:587."
        ) from None


def sender_of(url: str, site: str) -> str:
    """Give the From address: ``?from=`` of EMAIL_URL, its user if that is an address, else fleetledger@ our host."""
    parts = urlsplit(url)
    for address in (parse_qs(parts.query).get("from", [""])[0], (parts.username or "").replace("%40", "@")):
        if address and is_address(address):
            return address
    host = urlsplit(site).hostname or ""
    return f"fleetledger@{host if host.rpartition('.')[2].isalpha() else 'localhost'}"


def compose(message: Rendered, to: str, ids: Ids, now: datetime, *, sender: str) -> EmailMultiAlternatives:
    """Build the mail. Every name is one line by then, so it can't begin a header of its own."""
    context = {
        "kind": message.kind,
        "title": plain(message.title, limit=300),
        "sentence": plain(message.sentence, limit=3000),
        "lines": [(plain(label), plain(value)) for label, value in message.lines],
        "link": link_target(message.link),
        "link_text": plain(message.link_text),
        "organization": plain(message.organization),
        "reason": plain(message.reason),
    }
    headers = {
        "Message-ID": f"<{ids.message}@{parseaddr(sender)[1].rpartition('@')[2]}>",
        "Date": format_datetime(now),
        "Auto-Submitted": "auto-generated",
        "X-Auto-Response-Suppress": "All",
        **({"Fleetledger-At": iso(now)} if ids.given_time else {}),
    }
    text = render_to_string("alerts/message.txt", context)
    mail = EmailMultiAlternatives(plain(message.title, limit=200), text, sender, [to], headers=headers)
    mail.attach_alternative(render_to_string("alerts/message.html", context), "text/html")
    return mail


def failure(error: Exception, *, began: bool) -> ChannelError:
    """Translate an SMTP failure; the server's own words are left out, they repeat addresses."""
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        code = next(iter(error.recipients.values()))[0]
        return ChannelError("recipient_refused", status=code, permanent=code >= 500, about="address")
    if isinstance(error, smtplib.SMTPAuthenticationError):
        return ChannelError("login_refused", status=error.smtp_code, permanent=error.smtp_code >= 500)
    if isinstance(error, smtplib.SMTPSenderRefused):
        return ChannelError("sender_refused", status=error.smtp_code, permanent=error.smtp_code >= 500)
    if isinstance(error, smtplib.SMTPResponseException):
        about = "message" if isinstance(error, smtplib.SMTPDataError) else "channel"
        return ChannelError("refused", status=error.smtp_code, permanent=error.smtp_code >= 500, about=about)
    if isinstance(error, smtplib.SMTPNotSupportedError):
        return ChannelError("not_supported", permanent=True)
    if isinstance(error, TimeoutError):
        return ChannelError("timeout", unknown=began)
    return ChannelError("connection_lost" if began else "no_connection", unknown=began)


def _close(backend: EmailBackend) -> None:
    # The message was accepted or refused before; a rude goodbye changes neither.
    with contextlib.suppress(OSError, smtplib.SMTPException):
        backend.close()
