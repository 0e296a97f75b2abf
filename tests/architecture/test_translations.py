"""Every visible string of Python code outside the domain is marked for translation."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.architecture.tree import product_modules, show

MARKS = {
    "_",
    "gettext",
    "gettext_lazy",
    "ngettext",
    "ngettext_lazy",
    "pgettext",
    "pgettext_lazy",
    "npgettext",
    "gettext_noop",
}
VISIBLE_KEYWORDS = {
    "label",
    "help_text",
    "empty_label",
    "verbose_name",
    "verbose_name_plural",
    "title",
    "sentence",
    "placeholder",
}
VISIBLE_CALLS = {"success", "info", "warning", "error", "add_message"}  # of django.contrib.messages
CHART_KEYWORDS = {"name", "title", "title_text", "text", "hovertext"}
_WORD = re.compile(r"[^\W\d_]{2}")


def literal_text(node: ast.expr) -> str | None:
    """Give the text of a string or f-string that holds a word, else None."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        text = node.value
    elif isinstance(node, ast.JoinedStr):
        text = "".join(
            part.value for part in node.values if isinstance(part, ast.Constant) and isinstance(part.value, str)
        )
    else:
        return None
    return text if _WORD.search(text) else None


def called(node: ast.Call) -> str:
    """Give the last name of what is called."""
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def visible_literals(tree: ast.AST, keywords: set[str]) -> list[tuple[int, str]]:
    """Give (line, text) of literals that a person would see: visible keywords, messages, ValidationError."""
    found = []
    for node in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        shown = [keyword.value for keyword in node.keywords if keyword.arg in keywords]
        is_message = isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id", "") == "messages"
        if (is_message and called(node) in VISIBLE_CALLS) or called(node) == "ValidationError":
            shown += node.args
        found += [(one.lineno, text) for one in shown if (text := literal_text(one))]
    return found


def sentences(tree: ast.AST) -> list[tuple[int, str]]:
    """Give (line, text) of every literal with a space that no mark is around; docstrings do not count."""
    marked, documentation = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and called(node) in MARKS:
            marked |= {id(inner) for argument in node.args for inner in ast.walk(argument)}
        if isinstance(node, ast.Expr):
            documentation.add(id(node.value))
        if isinstance(node, ast.JoinedStr):
            marked |= {id(part) for part in node.values if id(node) in marked}
    return [
        (node.lineno, text)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in marked | documentation
        if (text := literal_text(node)) and " " in text.strip()
    ]


def examine(path: Path, source: str) -> list[tuple[int, str]]:
    """Choose the rule by what the file is."""
    tree = ast.parse(source)
    if path.stem == "sentences":
        return sentences(tree)
    if path.stem == "charts" or path.parent.name == "charts":
        return visible_literals(tree, CHART_KEYWORDS)
    return visible_literals(tree, VISIBLE_KEYWORDS)


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("views.py", "messages.success(request, 'Kept')"),
        ("views.py", "messages.error(request, f'No {name} here')"),
        ("forms.py", "CharField(label='Team')"),
        ("forms.py", "raise ValidationError('Too short')"),
        ("models/gpu.py", "CharField(verbose_name='host name')"),
        ("sentences.py", "x = 'was idle'"),
        ("sentences.py", "x = f'{a} was idle'"),
        ("charts.py", "go.Bar(name='working')"),
    ],
)
def test_is_found(name: str, source: str) -> None:
    assert len(examine(Path(name), source)) == 1


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("views.py", "messages.success(request, _('Kept'))"),
        ("views.py", "logger.error('no such thing')"),
        ("forms.py", "CharField(label=_('Team'), widget=TextInput(attrs={'class': 'a b'}))"),
        ("sentences.py", "'''Render a sentence.'''\nx = gettext('%(n)s was idle') % facts\ny = facts['state']"),
        ("charts.py", "go.Bar(name=labels.working, hovertemplate='%{y} h')"),
    ],
)
def test_is_spared(name: str, source: str) -> None:
    assert examine(Path(name), source) == []


def test_all_modules() -> None:
    found = []
    for path in product_modules():
        if {"domain", "management"} & set(path.parts):
            continue  # the domain speaks in enums, commands speak English
        found += [f"{show(path, line)}: {text!r}" for line, text in examine(path, path.read_text(encoding="utf-8"))]
    assert found == []
