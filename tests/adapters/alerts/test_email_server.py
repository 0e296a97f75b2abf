"""What EMAIL_URL means, and from whom a mail comes."""

from __future__ import annotations

from typing import Any

import pytest

from alerts.channels.email import EmailChannel, sender_of, server
from common.errors import BadInput


@pytest.mark.parametrize(
    ("url", "host", "port", "secured"),
    [
        ("smtp://mail.example.com:25", "mail.example.com", 25, set()),
        ("smtp+tls://mail.example.com:587", "mail.example.com", 587, {"use_tls"}),
        ("smtp+ssl://mail.example.com:465", "mail.example.com", 465, {"use_ssl"}),
        ("smtps://mail.example.com:465", "mail.example.com", 465, {"use_ssl"}),
        ("smtp://mail.example.com", "mail.example.com", 25, set()),
        ("smtp://127.0.0.1:1025/?from=fleet@example.com", "127.0.0.1", 1025, set()),
    ],
)
def test_addresses_of_servers(settings: Any, url: str, host: str, port: int, secured: set[str]) -> None:
    settings.EMAIL_URL = url
    read = server()
    assert (read["host"], read["port"], read["username"], read["password"]) == (host, port, "", "")
    assert {name for name in ("use_tls", "use_ssl") if read[name]} == secured


def test_login(settings: Any) -> None:
    settings.EMAIL_URL = "smtp+tls://fleet%40example.com:p%40ss%2Fword@mail.example.com:587"
    read = server()
    assert (read["username"], read["password"]) == ("fleet@example.com", "p@ss/word")


@pytest.mark.parametrize("url", ["", "carrier-pigeon://x", "smtp://:badport", "smtp://host:port"])
def test_what_cannot_be_read(settings: Any, url: str) -> None:
    settings.EMAIL_URL = url
    with pytest.raises(BadInput) as error:
        server()
    assert error.value.code in {"no_mail_server", "bad_email_url"}
    assert url not in error.value.message or not url


@pytest.mark.parametrize(
    ("url", "site", "sender"),
    [
        ("smtp://mail.example.com", "https://fleet.example.com", "fleetledger@fleet.example.com"),
        ("smtp://mail.example.com", "http://127.0.0.1:8000", "fleetledger@localhost"),
        ("smtp://mail.example.com", "", "fleetledger@localhost"),
        ("smtp+tls://fleet%40example.com:p@mail.example.com", "https://a.test", "fleet@example.com"),
        ("smtp+tls://apikey:p@mail.example.com/?from=ops@example.com", "https://a.test", "ops@example.com"),
        ("smtp://mail.example.com/?from=ops@example.com%0d%0aBcc: x@y.test", "https://a.test", "fleetledger@a.test"),
    ],
)
def test_senders(url: str, site: str, sender: str) -> None:
    assert sender_of(url, site) == sender


def test_a_sender_is_one_line() -> None:
    channel = EmailChannel("mail", {"from": "Fleet <fleet@example.com>\r\nBcc: x@y.test"})
    assert channel.sender() == "Fleet <fleet@example.com> Bcc: x@y.test"
    with pytest.raises(BadInput):
        EmailChannel("mail", {"from": "nobody", "to": "a@example.com"}).check()
