"""Every visible string of a template is marked for translation, and nothing in it needs a hole in the CSP."""

from __future__ import annotations

import pytest

from tests.architecture.templates import examine
from tests.architecture.tree import files, show

HEAD = "{% load i18n %}"
MAILS = {"templates/alerts/message.html"}  # mail programs know no other style than an inline one


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("<p>Spend</p>", "unmarked text"),
        ("<p>{{ amount }} spent</p>", "unmarked text"),
        ("<p>花费</p>", "unmarked text"),
        ("{% if a %}idle{% endif %}", "unmarked text"),
        ('<img src="a.svg" alt="A heat map">', "unmarked alt"),
        ('<button aria-label="Close {{ name }}"></button>', "unmarked aria-label"),
        ('<input type="submit" value="Keep">', "unmarked value"),
        ('{{ owner|default:"nobody" }}', "unmarked argument"),
        ('<p style="color: red">1</p>', "inline style"),
        ("<style>p {}</style>", "inline style"),
        ("<script>alert(1)</script>", "inline script"),
        ('<a href="javascript:x()">1</a>', "inline script"),
        ('<a onclick="x()">1</a>', "inline script"),
        ('<div hx-on:click="x()"></div>', "inline script"),
        ("{% blocktranslate %}a{% endblocktranslate %} b", "unmarked text"),
    ],
)
def test_is_found(source: str, what: str) -> None:
    assert [one.what for one in examine(HEAD + source)] == [what]


@pytest.mark.parametrize(
    "source",
    [
        "<p>{% translate 'Spend' %}</p>",
        "<p>{% blocktranslate with n=n %}{{ n }} idle GPUs{% endblocktranslate %}</p>",
        "<p>{{ amount }} / {{ total }} %</p>",
        "<p>Fleetledger · GPU-h</p>",
        '<img alt="{% translate "A heat map" %}">',
        '<input type="hidden" value="abc">',
        '{{ owner|default:_("nobody") }}',
        '{{ owner|default:"–" }}',
        '<script src="{% static "app.js" %}" defer></script>',
        '<script type="application/json" id="x">{"a": 1}</script>',
        "{# a comment #}{% comment %}another{% endcomment %}",
        '<a {% if on %}class="on"{% endif %} href="{% url "overview" %}">1</a>',
        '<meta name="viewport" content="width=device-width">',
    ],
)
def test_is_spared(source: str) -> None:
    assert examine(HEAD + source) == []


def test_line_is_that_of_the_text() -> None:
    assert [
        one.line for one in examine("{% load i18n %}\n{% comment %}\n{% endcomment %}\n<p\n title='x y'>\n</p>\nidle")
    ] == [4, 7]


def test_all_templates() -> None:
    found = []
    for path in files(".html"):
        for one in examine(path.read_text(encoding="utf-8")):
            if one.what == "inline style" and show(path) in MAILS:
                continue
            found.append(f"{show(path, one.line)}: {one.what}: {one.text}")
    assert found == []
