"""Logs: one line, key=value, and no secret in it, wherever it stands."""

from __future__ import annotations

import logging
import logging.config

import pytest
import structlog

from config.logs import logging_settings, start_logging


@pytest.fixture(autouse=True)
def own_logging() -> None:
    structlog.reset_defaults()


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    start_logging(logging_settings(["s3cr3t-value"]))
    return capsys


def test_key_value_on_stderr(lines: pytest.CaptureFixture[str]) -> None:
    structlog.get_logger("fleet.test").warning("source_late", source="main", minutes=7)
    out, err = lines.readouterr()
    assert out == ""
    stamp, _, rest = err.partition(" ")
    assert stamp.startswith("timestamp=20")
    assert rest == "level=warning event=source_late logger=fleet.test source=main minutes=7\n"


def test_secrets_by_name_by_value_and_in_urls(lines: pytest.CaptureFixture[str]) -> None:
    structlog.get_logger("x").warning(
        "sent", api_key="abc", Authorization="Bearer xyz", token=None, note="a s3cr3t-value b"
    )
    logging.getLogger("y").error("could not reach %s", "https://user:hunter22@host/path")
    logging.getLogger("y").error("raw s3cr3t-value")
    _, err = lines.readouterr()
    assert "abc" not in err
    assert "xyz" not in err
    assert "s3cr3t-value" not in err
    assert "hunter22" not in err
    assert "https://user:***@host/path" in err
    assert "token=" in err


def test_a_traceback_stays_on_its_line_and_keeps_no_secret(lines: pytest.CaptureFixture[str]) -> None:
    try:
        int("s3cr3t-value")
    except ValueError:
        logging.getLogger("z").exception("failed")
    _, err = lines.readouterr()
    assert err.count("\n") == 1
    assert "ValueError: invalid literal for int() with base 10: '***'" in err
