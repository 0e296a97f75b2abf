"""Names from outside, in every medium."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.domain.escape import link_target, mrkdwn, plain, slack_plain

NASTY = st.text(
    st.one_of(st.characters(), st.sampled_from("<>&!@#|*_~`\r\n\t\x00\x7f\u2028\u2029\u202e\u2066\u200b\ufeff")),
    max_size=60,
)
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


@given(NASTY)
def test_plain_is_one_visible_line(text: str) -> None:
    shown = plain(text)
    assert not any(unicodedata.category(character) in {"Cc", "Zl", "Zp", "Cs"} for character in shown)
    assert not any(character in BIDI for character in shown)
    assert shown == shown.strip()
    assert plain(shown) == shown


@given(NASTY)
def test_mrkdwn_has_no_markup_and_means_the_same(text: str) -> None:
    shown = mrkdwn(text, limit=10_000)
    assert "<" not in shown
    assert ">" not in shown
    assert shown.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == plain(text)


@given(NASTY)
def test_slack_plain_text_has_no_brackets(text: str) -> None:
    assert not set("<>") & set(slack_plain(text))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!channel> look", "&lt;!channel&gt; look"),
        ("<https://evil.test|the page>", "&lt;https://evil.test|the page&gt;"),
        ("a&b", "a&amp;b"),
        ("&lt;!here&gt;", "&amp;lt;!here&amp;gt;"),
        ("gpu\r\nBcc: all@example.com", "gpu Bcc: all@example.com"),
        ("abc\u202egpj.exe", "abcgpj.exe"),
        ("节点-7", "节点-7"),
    ],
)
def test_mrkdwn_examples(text: str, shown: str) -> None:
    assert mrkdwn(text) == shown


@given(NASTY, st.integers(1, 40))
def test_no_text_is_longer_than_its_limit(text: str, limit: int) -> None:
    assert len(plain(text, limit=limit)) <= limit
    assert len(mrkdwn(text, limit=limit)) <= limit
    assert len(slack_plain(text, limit=limit)) <= limit


def test_an_escape_is_never_cut_in_two() -> None:
    assert mrkdwn("&" * 20, limit=12) == "&amp;&amp;…"
    assert mrkdwn("&&", limit=10) == "&amp;&amp;"


@pytest.mark.parametrize("url", ["https://fleet.example.com/i/a?c=1&d=2#x", "http://127.0.0.1:8000/"])
def test_good_links_stay(url: str) -> None:
    assert link_target(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://a.test/|x>",
        "https://a.test/ b",
        "https://a.test/\n",
        "//a.test",
        "",
        "https://a.test/\u202e",
    ],
)
def test_bad_links_go(url: str) -> None:
    assert link_target(url) == ""
