"""Logs: structlog, key=value lines on stderr (stdout belongs to the answers of commands), no secret in any of them."""

from __future__ import annotations

import logging.config
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

import structlog
from structlog.typing import EventDict, Processor

HIDDEN = "***"
_SECRET_KEY_NAMES = re.compile(r"password|passwd|secret|token|authorization|cookie|api_?key|credential", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"(?<=://)([^/\s:@]*):([^/\s@]+)@")


def hide_named(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Hide the values of keys whose name says that they are secret."""
    return {key: HIDDEN if _SECRET_KEY_NAMES.search(key) and value else value for key, value in event.items()}


class HideValues:
    """Hide known secrets, and passwords in URLs, wherever they stand in the finished line."""

    def __init__(self, values: Iterable[str]) -> None:
        self._values = tuple(sorted({value for value in values if len(value) >= 6}, key=len, reverse=True))

    def __call__(self, _logger: object, _method: str, line: str) -> str:
        """Give the line without them."""
        for value in self._values:
            line = line.replace(value, HIDDEN)
        return _URL_PASSWORD.sub(rf"\1:{HIDDEN}@", line)


class StderrHandler(logging.Handler):
    """Writes to what `sys.stderr` is at that moment; a stream kept from the start may be closed or replaced by then."""

    def emit(self, record: logging.LogRecord) -> None:
        """Write one line."""
        try:
            sys.stderr.write(f"{self.format(record)}\n")
        except Exception:  # noqa: BLE001 - logging never breaks what it tells about
            self.handleError(record)


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="%Y-%m-%dT%H:%M:%SZ", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,
        hide_named,
    ]


def logging_settings(secrets: Iterable[str] = (), *, level: str = "INFO") -> dict[str, Any]:
    """Give the logging configuration (``logging.config.dictConfig``); ``secrets`` never reach a line."""
    render: list[Any] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event", "logger"], bool_as_flag=False),
        HideValues(secrets),
    ]
    formatter = {"()": structlog.stdlib.ProcessorFormatter, "processors": render, "foreign_pre_chain": _shared()}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": formatter},
        "handlers": {"stderr": {"class": "config.logs.StderrHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            "django": {"level": "WARNING"},
            "celery": {"level": "WARNING"},
            "kombu": {"level": "WARNING"},
            "urllib3": {"level": "ERROR"},
        },
    }


def start_logging(settings: Mapping[str, Any]) -> None:
    """Send every log, structlog's and the standard library's, through the same lines."""
    logging.config.dictConfig(dict(settings))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
