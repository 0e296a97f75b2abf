"""Typing scalars: what each type takes, what it refuses, and what it says then."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from common.errors import BadInput
from config.declared import addresses as a
from config.declared import values as v
from config.declared.values import Reading, Scalar

BERLIN = Reading(ZoneInfo("Europe/Berlin"))
MONEY, PRICE, PERCENT, SPAN = v.decimal(), v.decimal(positive=True), v.percent(positive=True), v.duration("15m", "7d")
COUNT, WORD = v.whole(1, 1024), v.choice("running", "stopped")


@pytest.mark.parametrize(
    ("wanted", "text", "value"),
    [
        (MONEY, "16.00", "16.00"),
        (MONEY, "0", "0"),
        (MONEY, "0.000000000000000001", "0.000000000000000001"),
        (PERCENT, "5", 5),
        (PERCENT, "2.5", 2.5),
        (COUNT, "8", 8),
        (SPAN, "60m", "1h"),
        (SPAN, "90m", "1h30m"),
        (SPAN, "900s", "15m"),
        (SPAN, "7d", "7d"),
        (v.duration(), "0m", "0m"),
        (WORD, "running", "running"),
        (v.BOOLEAN, "Yes", True),
        (v.BOOLEAN, "off", False),
        (v.MOMENT, "2025-06-02T08:00:00Z", "2025-06-02T08:00:00Z"),
        (v.MOMENT, "2025-06-02 08:00:00+02:00", "2025-06-02T06:00:00Z"),
        (v.MOMENT, "2025-06-02", "2025-06-01T22:00:00Z"),
        (v.MOMENT, "2025-12-02", "2025-12-01T23:00:00Z"),
        (v.DAY, "2025-12-25", "2025-12-25"),
        (v.CLOCK, "08:00", "08:00"),
        (v.CLOCK, "24:00", "24:00"),
        (v.CURRENCY, "USD", "USD"),
        (v.TIME_ZONE, "Asia/Kolkata", "Asia/Kolkata"),
        (v.EMAIL, "Dev@Example.com", "dev@example.com"),
        (v.NAME, " nlp ", "nlp"),
        (a.URL, "http://127.0.0.1:9090", "http://127.0.0.1:9090"),
        (a.URL, "https://[::1]:9090/x?y=1", "https://[::1]:9090/x?y=1"),
        (a.SECRET, "env:PROM_TOKEN", "env:PROM_TOKEN"),
        (a.SECRET, "file:/run/secret", "file:/run/secret"),
        (a.SECRET_URL, "env:SLACK_URL", "env:SLACK_URL"),
        (a.SECRET_URL, "http://127.0.0.1:8098/slack", "http://127.0.0.1:8098/slack"),
        (a.URL_OR_SECRET, "https://hook.example.com/x", "https://hook.example.com/x"),
        (a.HTTP_PATH, "/v1/instances/{id}", "/v1/instances/{id}"),
    ],
)
def test_good_values(wanted: Scalar, text: str, value: object) -> None:
    assert wanted.read(text, BERLIN) == value


@pytest.mark.parametrize(
    ("wanted", "text", "code", "hint"),
    [
        (MONEY, "$16.00", "bad_number", "16.00"),
        (MONEY, "16.00 USD", "bad_number", "16.00"),
        (MONEY, "1,234.50", "bad_number", "decimal point"),
        (MONEY, "1e3", "bad_number", "Write it out: 1000."),
        (MONEY, "1.5E-2", "bad_number", "Write it out: 0.015."),
        (MONEY, "1e999", "bad_number", "Write digits"),
        (MONEY, "0x10", "bad_number", "Write digits"),
        (MONEY, "１６", "bad_number", "Write digits"),
        (COUNT, "８", "bad_number", "Write digits"),
        (MONEY, "nan", "bad_number", ""),
        (MONEY, "inf", "bad_number", ""),
        (MONEY, "-1", "out_of_bounds", "0"),
        (MONEY, "9" * 30, "bad_number", ""),
        (PRICE, "0", "out_of_bounds", "above 0"),
        (PERCENT, "5%", "bad_number", "write 5"),
        (PERCENT, "0", "out_of_bounds", ""),
        (PERCENT, "101", "out_of_bounds", "100"),
        (COUNT, "8 GPUs", "bad_number", "8"),
        (COUNT, "8.0", "bad_number", ""),
        (COUNT, "0", "out_of_bounds", "at least 1"),
        (COUNT, "-8", "out_of_bounds", "at least 1"),
        (COUNT, "5000", "out_of_bounds", "at most 1024"),
        (SPAN, "60", "bad_duration", "60m"),
        (SPAN, "60min", "bad_duration", "1h30m"),
        (SPAN, "1h 30m", "bad_duration", ""),
        (SPAN, "10m", "out_of_bounds", "15m to 7d"),
        (SPAN, "8d", "out_of_bounds", "15m to 7d"),
        (SPAN, "9" * 40 + "d", "bad_duration", ""),
        (SPAN, "-5m", "bad_duration", ""),
        (WORD, "runing", "bad_choice", "Did you mean running?"),
        (WORD, "Running", "bad_choice", "Did you mean running?"),
        (v.BOOLEAN, "maybe", "bad_boolean", ""),
        (v.BOOLEAN, "1", "bad_boolean", ""),
        (v.MOMENT, "2025-06-02T08:00:00", "bad_time", "Z"),
        (v.MOMENT, "0999-01-01T00:00:00Z", "bad_time", ""),
        (v.decimal(most=744, places=2), "730.125", "out_of_bounds", "744"),
        (v.decimal(most=744, places=2), "745", "out_of_bounds", "744"),
        (v.MOMENT, "yesterday", "bad_time", ""),
        (v.MOMENT, "2025-02-30", "bad_date", ""),
        (v.MOMENT, "2025-02-30T08:00:00Z", "bad_time", ""),
        (v.MOMENT, "0001-01-01T00:00:00+14:00", "bad_time", ""),
        (v.DAY, "25.12.2025", "bad_date", ""),
        (v.DAY, "1066-10-14", "bad_date", ""),
        (v.CLOCK, "8:00", "bad_clock", ""),
        (v.CLOCK, "25:00", "bad_clock", ""),
        (v.CURRENCY, "usd", "bad_currency", "Did you mean USD?"),
        (v.CURRENCY, "XXX", "bad_currency", ""),
        (v.CURRENCY, "dollar", "bad_currency", "ISO 4217"),
        (v.TIME_ZONE, "Europe/Berln", "bad_time_zone", "Did you mean Europe/Berlin?"),
        (v.TIME_ZONE, "../../etc/passwd", "bad_time_zone", ""),
        (v.EMAIL, "dev", "bad_email", ""),
        (v.EMAIL, "dev@example.com\nBcc: x@example.com", "bad_email", ""),
        (v.NAME, "x" * 121, "text_too_long", ""),
        (v.NAME, " ", "blank", ""),
        (v.without_slash(), "a/b", "bad_name", ""),
        (a.URL, "127.0.0.1:9090", "bad_url", "http://"),
        (a.URL, "ftp://example.com", "bad_url", ""),
        (a.URL, "file:///etc/passwd", "bad_url", ""),
        (a.URL, "http://", "bad_url", ""),
        (a.URL, "http://a:99999", "bad_url", ""),
        (a.URL, "http://[::1", "bad_url", ""),
        (a.URL, "http://a b", "bad_url", ""),
        (a.URL, "http://user:hunter2@example.com", "secret_in_url", "env:NAME"),
        (a.SECRET, "hunter2", "bad_secret", "env:NAME"),
        (a.SECRET, "env:SECRET_KEY", "forbidden_secret", ""),
        (a.SECRET, "env:FLEETLEDGER_ACT", "forbidden_secret", ""),
        (a.SECRET, "file:relative", "bad_secret", ""),
        (a.SECRET_URL, "https://hooks.slack.com/services/T0/B0/hunter2", "bad_secret", "env:NAME"),
        (a.SECRET_URL, "hunter2", "bad_secret", ""),
        (a.HTTP_PATH, "v1/instances", "bad_path", ""),
        (a.HTTP_PATH, "//evil.example.com/x", "bad_path", ""),
    ],
)
def test_bad_values(wanted: Scalar, text: str, code: str, hint: str) -> None:
    with pytest.raises(BadInput) as raised:
        wanted.read(text, BERLIN)
    assert raised.value.code == code
    assert hint in raised.value.hint
    assert "hunter2" not in raised.value.message + raised.value.hint


@pytest.mark.parametrize("name", ["Authorization", "X-Api-Key", "X-Auth-Token", "Cookie"])
def test_secret_headers_are_named_not_written(name: str) -> None:
    a.check_header(name, "env:TOKEN")
    with pytest.raises(BadInput) as raised:
        a.check_header(name, "hunter2")
    assert raised.value.code == "bad_secret"
    assert "hunter2" not in raised.value.message


@pytest.mark.parametrize(
    ("name", "value"), [("X Scope", "t"), ("X-Scope:", "t"), ("", "t"), ("X-Scope-OrgID", "a\r\nb")]
)
def test_headers_that_can_not_be_sent(name: str, value: str) -> None:
    with pytest.raises(BadInput) as raised:
        a.check_header(name, value)
    assert raised.value.code == "bad_header"
