"""Reading YAML into text with lines, in bounded memory and time."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.errors import BadInput
from config.declared.convert import untyped
from config.declared.nodes import Table, dotted, line_of
from config.declared.reader import MAX_ANCHORS, MAX_BYTES, MAX_NODES, read_file, read_text

LAUGHS = "\n".join(
    ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    + [f"{chr(98 + n)}: &{chr(98 + n)} [{', '.join([f'*{chr(97 + n)}'] * 10)}]" for n in range(12)]
)


def read(text: str) -> Any:
    root, doubles = read_text(text, "f")
    assert doubles == []
    return untyped(root)


def refused(text: str) -> tuple[str, int | None]:
    with pytest.raises(BadInput) as raised:
        read_text(text, "f")
    assert raised.value.message
    assert raised.value.hint
    assert raised.value.where.file == "f"
    return raised.value.code, raised.value.where.line


def test_scalars_stay_text() -> None:
    text = "a: 16.00\nb: 08:00\nc: 2025-12-25\nd: no\ne: 0x10\nf: 1_000\ng: '~'\nh: 1e3\n"
    assert read(text) == {
        "a": "16.00", "b": "08:00", "c": "2025-12-25", "d": "no", "e": "0x10", "f": "1_000", "g": "~", "h": "1e3",
    }  # fmt: skip


@pytest.mark.parametrize("nothing", ["", "~", "null", "Null", "NULL"])
def test_nothing_is_null_only_without_quotes(nothing: str) -> None:
    assert read(f"a: {nothing}\nb: '{nothing}'") == {"a": None, "b": nothing}


def test_lines_are_those_of_the_file() -> None:
    root, _ = read_text("# words\n\na:\n  - b: 1\n    c:\n      d: 2\n  - b: 3\n", "f")
    assert [line_of(root, path) for path in (("a",), ("a", 0, "b"), ("a", 0, "c", "d"), ("a", 1), ("a", 1, "b"))] == [
        3, 4, 6, 7, 7,
    ]  # fmt: skip
    assert line_of(root, ("a", 0, "missing")) == 4
    assert dotted(("a", 0, "c", "d")) == "a[0].c.d"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("", "empty_file", 1),
        ("# only words\n", "empty_file", 1),
        ("null\n", "empty_file", 1),
        ("- a\n", "not_a_mapping", 1),
        ("just words\n", "not_a_mapping", 1),
        ("<html><body>Sign in</body></html>\n", "not_a_mapping", 1),
        ("a:\n\t- b\n", "tab", 2),
        ("a: 1\nb: [1, 2\n", "not_yaml", 3),
        ("a: 'x\n", "not_yaml", 2),
        ("a: b: c\n", "not_yaml", 1),
        ("a: 1\n---\nb: 1\n", "several_documents", 2),
        ("a: 1\nb: !!python/object/apply:os.system [x]\n", "yaml_tag", 2),
        ("a: !mine x\n", "yaml_tag", 1),
        ("a: 1\nb: *none\n", "unknown_anchor", 2),
        ("a: &a [*a]\n", "unknown_anchor", 1),
        ("? [a]\n: b\n", "bad_key", 1),
        ("a: x\n<<: x\n", "bad_merge", 2),
        ('a: 1\nb: "\\0"\n', "bad_character", 2),
        ("a: 1\nb: \x01\n", "bad_character", 2),
        (f"a: {'x' * 70_000}\n", "text_too_long", 1),
        ("a: " + "[" * 40 + "]" * 40, "too_deep", 1),
        (LAUGHS, "too_many_values", 6),
        ("\n".join(f"a{n}: &a{n} x" for n in range(MAX_ANCHORS + 1)), "too_many_anchors", MAX_ANCHORS + 1),
    ],
)
def test_what_is_no_file_for_us_is_told_with_its_line(text: str, code: str, line: int) -> None:
    assert refused(text) == (code, line)


def test_keys_that_stand_twice_are_all_told() -> None:
    _, doubles = read_text("a: 1\nb: {c: 1, c: 2}\na: 2\n", "f")
    assert [(error.code, error.where.line, error.where.key) for error in doubles] == [
        ("duplicate_key", 2, "c"), ("duplicate_key", 3, "a"),
    ]  # fmt: skip
    assert "line 1" in doubles[1].message


def test_aliases_and_merge_keys_work() -> None:
    text = "base: &b {p: 1, q: 2}\nx: *b\ny: {<<: *b, p: 3}\nz:\n  p: 4\n  <<: [*b, {r: 5}]\n"
    assert read(text) == {
        "base": {"p": "1", "q": "2"},
        "x": {"p": "1", "q": "2"},
        "y": {"p": "3", "q": "2"},
        "z": {"p": "4", "q": "2", "r": "5"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"a{n}: &a{n} x" for n in range(700_000)),
        "a: &a x\nb: [" + "*a, " * 2_500_000 + "]",
        "[" * 10_000_000,
        "a: " + "{a: " * 2_500_000,
        "- " * 5_000_000,
        LAUGHS + "\n" + "#" * 10_000_000,
    ],
    ids=["anchors", "aliases", "lists", "mappings", "dashes", "laughs"],
)
def test_ten_megabytes_of_nonsense_take_little_memory(text: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(BadInput) as raised:
            read_text(text, "f")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert raised.value.code in {
        "too_many_anchors",
        "too_many_aliases",
        "too_many_values",
        "not_yaml",
        "too_deep",
        "not_a_mapping",
    }
    assert peak < 120_000_000 + MAX_NODES * 16


def test_a_file_that_is_too_big_is_not_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "big.yaml"
    with path.open("wb") as stream:
        stream.truncate(MAX_BYTES * 100)
    with pytest.raises(BadInput) as raised:
        read_file(path)
    assert raised.value.code == "file_too_big"


@pytest.mark.parametrize(
    ("content", "code", "line"),
    [
        (b"a: 1\nb: \xff\n", "not_utf8", 2),
        ("a: ü\n".encode("latin-1"), "not_utf8", 1),
        ("a: 1".encode("utf-16"), "not_utf8", 1),
    ],
)
def test_other_encodings_are_told(tmp_path: Path, content: bytes, code: str, line: int) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(content)
    with pytest.raises(BadInput) as raised:
        read_file(path)
    assert (raised.value.code, raised.value.where.line) == (code, line)


def test_a_byte_order_mark_is_nothing(tmp_path: Path) -> None:
    path = tmp_path / "f.yaml"
    path.write_bytes(b"\xef\xbb\xbfa: 1\n")
    assert untyped(read_file(path)[0]) == {"a": "1"}


@pytest.mark.parametrize("name", ["missing.yaml", ".", "missing/folder.yaml"])
def test_a_file_that_can_not_be_read_is_told(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadInput) as raised:
        read_file(tmp_path / name)
    assert raised.value.code == "file_unreadable"


_SCALARS = (
    st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=20) | st.integers() | st.booleans() | st.none()
)
_JSON = st.recursive(
    _SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=("Cc", "Cs")), max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


def as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_text(one) for key, one in value.items()}
    if isinstance(value, list):
        return [as_text(one) for one in value]
    return value if value is None or isinstance(value, str) else json.dumps(value)


@settings(max_examples=150, deadline=None)
@given(
    st.dictionaries(st.text("abc", min_size=1, max_size=3), _JSON, min_size=1, max_size=4),
    st.sampled_from([None, 2, "\t"]),
    st.booleans(),
)
def test_json_is_yaml(value: dict[str, Any], indent: int | str | None, ascii_only: bool) -> None:
    root, doubles = read_text(json.dumps(value, indent=indent, ensure_ascii=ascii_only), "f")
    assert isinstance(root, Table)
    assert (untyped(root), doubles) == (as_text(value), [])
