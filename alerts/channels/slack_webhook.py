"""Slack's incoming webhook: Block Kit with a text twin for notifications and screen readers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from alerts.channels.posting import declared, post
from alerts.domain.escape import link_target, mrkdwn, slack_plain
from alerts.domain.ports import Accepted, ChannelError, Ids, Rendered
from common.errors import BadInput

MOST_FIELDS = 10  # in one section; with 3000 characters in a text, 2000 in a field and 150 in a header: Slack's limits


class SlackWebhookChannel:
    """POSTs to an incoming webhook, at most one message a second (Slack's own rule)."""

    seconds_between = 1.0

    def __init__(self, name: str, spec: Mapping[str, Any]) -> None:
        self.name, self.spec = name, spec

    def addresses(self) -> list[str] | None:
        """Give the one address: the webhook's own room."""
        return [""]

    def check(self) -> None:
        """Raise BadInput when the address can't be read."""
        declared(self.spec, "url")

    def send(self, message: Rendered, to: str, ids: Ids, now: datetime) -> Accepted:
        """Send once. Raises ChannelError."""
        try:
            url = declared(self.spec, "url")
        except BadInput as error:
            raise ChannelError(error.code) from None
        body = json.dumps(blocks(message, ids), ensure_ascii=False).encode()
        return post(url, body, spec=self.spec, headers={}, ids=ids, now=now)


def blocks(message: Rendered, ids: Ids) -> dict[str, Any]:
    """Give the payload. ``verbatim`` keeps Slack from making links and mentions out of names."""
    parts: list[dict[str, Any]] = [
        {"type": "header", "text": {"type": "plain_text", "text": slack_plain(message.title) or "-", "emoji": False}},
    ]
    if message.sentence:
        parts.append({"type": "section", "text": _text(mrkdwn(message.sentence, limit=15000))})
    fields = [_field(*line) for line in message.lines]
    parts += [
        {"type": "section", "fields": fields[start : start + MOST_FIELDS]}
        for start in range(0, len(fields), MOST_FIELDS)
    ]
    footer = _text(_footer(message, ids))
    parts.append({"type": "context", "block_id": f"fleetledger:{ids.message}", "elements": [footer]})
    text = ": ".join(part for part in (mrkdwn(message.title), mrkdwn(message.sentence)) if part)
    return {"text": text, "unfurl_links": False, "unfurl_media": False, "blocks": parts}


def _text(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


def _field(label: str, value: str) -> dict[str, Any]:
    return _text(f"*{mrkdwn(label, limit=100)}*\n{mrkdwn(value, limit=1500)}")


def _footer(message: Rendered, ids: Ids) -> str:
    link = link_target(message.link)
    parts = [f"<{link.replace('&', '&amp;')}|{mrkdwn(message.link_text)}>"] if link and message.link_text else []
    if message.reason:
        parts.append(mrkdwn(message.reason))
    parts.append(mrkdwn(f"{message.organization} {' '.join(f'#{number}' for number in ids.alerts)}"))
    return " · ".join(parts)
