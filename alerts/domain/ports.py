"""The port that every channel implements, and the values that pass through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True)
class Rendered:
    """A message in words, not yet escaped for any medium (each channel does that for its own).

    ``lines`` are (label, value); ``link`` is absolute or empty. ``data`` is what machines read (webhook).
    """

    kind: str
    title: str
    sentence: str
    lines: tuple[tuple[str, str], ...] = ()
    link: str = ""
    link_text: str = ""
    organization: str = ""
    reason: str = ""  # why this person gets it
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Ids:
    """``message`` is the stable id under which every try is sent; ``alerts`` are the alerts it tells of.

    ``given_time``: the time comes from `--at` or a replay, not from the clock, so requests say it (Fleetledger-At).
    """

    message: str
    alerts: tuple[int, ...] = ()
    given_time: bool = False


@dataclass(frozen=True)
class Accepted:
    """The other side took it: 2xx, 250. ``status`` is its code."""

    status: int | None = None


class ChannelError(Exception):
    """The other side did not take it, or may not have.

    ``permanent``: trying again can't help. ``about``: what the error tells of, one "address", this "message" or the
    whole "channel". ``unknown``: it may have been accepted; the next try goes out under the same id. ``retry_after``
    in seconds. ``detail`` is one of our own words or a short code of theirs: never an address, a secret or a body.
    """

    def __init__(
        self,
        detail: str,
        *,
        status: int | None = None,
        permanent: bool = False,
        about: str = "channel",
        retry_after: float | None = None,
        unknown: bool = False,
    ) -> None:
        super().__init__(detail)
        self.detail, self.status, self.permanent, self.about = detail, status, permanent, about
        self.retry_after, self.unknown = retry_after, unknown


class Channel(Protocol):
    """A way to tell somebody. One instance per declared channel, made from its spec; no state, no database.

    ``seconds_between`` is the least time between two sends to it (0: none).
    """

    seconds_between: float

    def __init__(self, name: str, spec: Mapping[str, Any]) -> None: ...

    def addresses(self) -> list[str] | None:
        """Give the addresses as declared; None: whoever the message is for."""

    def check(self) -> None:
        """Raise BadInput when the spec can't work (no secret, no address). Opens nothing."""

    def send(self, message: Rendered, to: str, ids: Ids, now: datetime) -> Accepted:
        """Send once. Raises ChannelError."""


def is_on(spec: Mapping[str, Any], switch: str) -> bool:
    """Say whether a declared channel has ``switch`` on (declared scalars may be text)."""
    return spec.get(switch) in (True, "true")
