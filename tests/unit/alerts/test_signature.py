"""A webhook's signature, and the example in its documentation."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from alerts.domain.signature import sign, verify

BODY = '{"id": "1", "name": "节点"}'.encode()
AT = 1_748_944_800


def test_the_value_is_stable() -> None:
    assert sign(b"{}", secret="s", at=AT) == (
        "t=1748944800,v1=bb282cfe4ac7a7ed581e7b7e6ba7923234b22abf7fda89ad7c8505ef04ee1f6b"
    )


@pytest.mark.parametrize("later", [-300, 0, 300])
def test_good(later: int) -> None:
    assert verify(BODY, sign(BODY, secret="s", at=AT), secret="s", at=AT + later)


@pytest.mark.parametrize(
    ("body", "header", "secret", "at"),
    [
        (BODY + b" ", sign(BODY, secret="s", at=AT), "s", AT),
        (BODY, sign(BODY, secret="s", at=AT), "other", AT),
        (BODY, sign(BODY, secret="s", at=AT), "s", AT + 301),
        (BODY, sign(BODY, secret="s", at=AT).replace("t=1748944800", "t=1748944801"), "s", AT),
        (BODY, "", "s", AT),
        (BODY, "t=,v1=", "s", AT),
        (BODY, "t=²,v1=é", "s", AT),
        (BODY, f"t={AT}", "s", AT),
    ],
)
def test_bad(body: bytes, header: str, secret: str, at: int) -> None:
    assert not verify(body, header, secret=secret, at=at)


def test_the_documented_receiver_agrees() -> None:
    """The example that people copy accepts what we sign and refuses what we don't."""
    text = Path("docs/reference/webhooks.md").read_text(encoding="utf-8")
    found = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert found
    names: dict[str, Any] = {}
    exec(found[1], names)
    header = sign(BODY, secret="s", at=AT)
    assert names["is_genuine"](BODY, header, "s", now=AT + 10) is True
    assert names["is_genuine"](BODY + b" ", header, "s", now=AT) is False
    assert names["is_genuine"](BODY, header, "s", now=AT + 301) is False
    assert names["is_genuine"](BODY, "junk", "s", now=AT) is False
