"""The generic webhook: signed JSON, safe to receive twice. `docs/reference/webhooks.md` is written for its receiver."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from alerts.channels.posting import declared, post
from alerts.domain.ports import Accepted, ChannelError, Ids, Rendered
from alerts.domain.signature import HEADER, sign
from common.errors import BadInput
from common.periods import iso


class WebhookChannel:
    """POSTs one JSON document per message, signed when a secret is named."""

    seconds_between = 0.0

    def __init__(self, name: str, spec: Mapping[str, Any]) -> None:
        self.name, self.spec = name, spec

    def addresses(self) -> list[str] | None:
        """Give the one address of a webhook: itself."""
        return [""]

    def check(self) -> None:
        """Raise BadInput when address or secret can't be read."""
        declared(self.spec, "url")
        if self.spec.get("secret"):
            declared(self.spec, "secret")

    def send(self, message: Rendered, to: str, ids: Ids, now: datetime) -> Accepted:
        """Send once. Raises ChannelError."""
        body = json.dumps(payload(message, ids, now), ensure_ascii=False, sort_keys=True).encode()
        try:
            url = declared(self.spec, "url")
            secret = declared(self.spec, "secret") if self.spec.get("secret") else ""
        except BadInput as error:
            raise ChannelError(error.code) from None
        headers = {HEADER: sign(body, secret=secret, at=int(now.timestamp()))} if secret else {}
        return post(url, body, spec=self.spec, headers=headers, ids=ids, now=now)


def payload(message: Rendered, ids: Ids, now: datetime) -> dict[str, Any]:
    """Give the document: words for people, numbers for machines. Names stand as they are; JSON escapes them."""
    return {
        "id": ids.message,
        "kind": message.kind,
        "sent_at": iso(now),
        "alert_ids": list(ids.alerts),
        "title": message.title,
        "sentence": message.sentence,
        "lines": [{"label": label, "value": value} for label, value in message.lines],
        "link": message.link or None,
        **message.data,
    }
