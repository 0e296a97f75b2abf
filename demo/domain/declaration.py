"""The declared fleet with its times: `{day 20 18:00}` is that time of the story, `{launch}` when machines start."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

_TIME = re.compile(r"\{day (\d+) (\d\d):(\d\d)\}")


def dated(text: str, start: datetime, launch: datetime) -> str:
    """Give ``text`` with every time written out: the story begins at ``start``, its machines run from ``launch``."""

    def moment(found: re.Match[str]) -> str:
        day, hour, minute = map(int, found.groups())
        return _written(start + timedelta(days=day, hours=hour, minutes=minute))

    return _TIME.sub(moment, text).replace("{launch}", _written(launch))


def _written(moment: datetime) -> str:
    return f"{moment:%Y-%m-%dT%H:%M:%SZ}"
