"""Read a YAML file into nodes with lines: the safe subset, in bounded memory and time.

Every scalar stays text (it is typed by its key later), so `16.00`, `08:00`, `no` and `2025-12-25` mean what they say.
A key written twice is an error, so are tags that ask for an object. Anchors, aliases and merge keys work within small
limits, so that a file can't unfold into more than it is.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from yaml import events as ev

from common.errors import BadInput, Where
from config.declared.nodes import Items, Node, Table, Text

MAX_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 32
MAX_NODES = 1_000_000
MAX_ANCHORS = 1_000
MAX_ALIASES = 100_000
MAX_TEXT = 64 * 1024
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_CORE_TAGS = re.compile(r"tag:yaml\.org,2002:(str|int|float|bool|null|map|seq|timestamp|merge)|!")
_SURROGATES = re.compile(r"(?<!\\)((?:\\\\)*)(\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})")
_LEADING_TABS = re.compile(r"^[ \t]+", re.MULTILINE)
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff]")


def read_file(path: Path) -> tuple[Table, list[BadInput]]:
    """Read ``path``; give its table and the keys that stand twice. Raises BadInput when it can't be read at all."""
    return read_text(_load(path), str(path))


def read_text(text: str, file: str) -> tuple[Table, list[BadInput]]:
    """Read YAML text as ``read_file`` does; JSON is YAML."""
    if text.lstrip()[:1] == "{":
        text = _json_as_yaml(text)
    builder = _Builder(file)
    try:
        for event in _events(text):
            builder.take(event)
    except yaml.MarkedYAMLError as error:
        raise _syntax_error(error, text, file) from None
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise BadInput(
            "bad_character", "There is a control character in the file.", hint="Remove it.", where=Where(file, line)
        ) from None
    root = builder.root
    if root is None or (isinstance(root, Text) and root.is_null):
        raise BadInput(
            "empty_file", "The file is empty.", hint="Begin with organization: or sources:.", where=Where(file, 1)
        )
    if not isinstance(root, Table):
        raise BadInput(
            "not_a_mapping",
            "The file must be a mapping of sections.",
            hint="Write section: on a line.",
            where=Where(file, root.line),
        )
    return root, builder.doubles


def _load(path: Path) -> str:
    """Give the file's text."""
    file = str(path)
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        message = f"{file} can't be read: {error.strerror or 'not a file'}."
        raise BadInput("file_unreadable", message, hint="Check path and mode.", where=Where(file)) from None
    if len(data) > MAX_BYTES:
        raise BadInput(
            "file_too_big", f"The file is larger than {MAX_BYTES // 2**20} MiB.", hint="Split it.", where=Where(file)
        )
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(
            "not_utf8", "The file is not UTF-8 text.", hint="Save it as UTF-8.", where=Where(file, line)
        ) from None


def _json_as_yaml(text: str) -> str:
    """Smooth what JSON allows and YAML 1.1 does not, line by line: pairs of escapes, tabs as indentation."""
    text = _LEADING_TABS.sub(lambda found: " " * len(found[0]), text)
    return _SURROGATES.sub(lambda found: found[1] + json.loads(f'"{found[2]}"'), text)


def _events(text: str) -> Iterator[yaml.Event]:
    """Parse lazily, so that a limit stops the parser too."""
    yield from yaml.parse(text, Loader=_LOADER)


def _syntax_error(error: yaml.MarkedYAMLError, text: str, file: str) -> BadInput:
    """Say where the YAML breaks; a tab in the indentation is named as such."""
    number = int(getattr(error.problem_mark, "line", 0)) + 1
    lines = text.splitlines()
    line = lines[number - 1] if number <= len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return BadInput("tab", "A tab is used to indent.", hint="YAML wants spaces.", where=Where(file, number))
    problem = error.problem or "it can't be parsed"
    return BadInput(
        "not_yaml",
        f"This is no YAML: {problem}.",
        hint="Check indentation, quotes and brackets here.",
        where=Where(file, number),
    )


class _Builder:
    """Builds nodes from parser events; refuses what passes a limit at the event that passes it."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.root: Node | None = None
        self.doubles: list[BadInput] = []
        self.open: list[tuple[Items | Table, str | None]] = []  # with the anchor to give it at its end
        self.keys: list[Text | None] = []  # of each open table: the key that waits for its value
        self.anchors: dict[str, Node] = {}
        self.documents = self.aliases = 0

    def take(self, event: yaml.Event) -> None:
        """Take one event."""
        line = event.start_mark.line + 1 if event.start_mark else 1
        if isinstance(event, ev.ScalarEvent):
            self._scalar(event, line)
        elif isinstance(event, ev.MappingStartEvent | ev.SequenceStartEvent):
            self._begin(event, line)
        elif isinstance(event, ev.MappingEndEvent | ev.SequenceEndEvent):
            node, anchor = self.open.pop()
            self.keys.pop()
            if anchor:
                self.anchors[anchor] = node
            self._place(node, line)
        elif isinstance(event, ev.AliasEvent):
            if event.anchor not in self.anchors:
                raise self._error(
                    "unknown_anchor", f"*{event.anchor} stands for nothing.", f"Define &{event.anchor} before.", line
                )
            self.aliases += 1
            if self.aliases > MAX_ALIASES:
                raise self._error(
                    "too_many_aliases", f"There are more than {MAX_ALIASES} aliases.", "Write values out.", line
                )
            self._place(self.anchors[event.anchor], line)
        elif isinstance(event, ev.DocumentStartEvent):
            self.documents += 1
            if self.documents > 1:
                raise self._error(
                    "several_documents", "There are several documents in the file.", "Remove the --- line.", line
                )

    def _scalar(self, event: ev.ScalarEvent, line: int) -> None:
        self._check_tag(event.tag, line)
        value = event.value
        if len(value) > MAX_TEXT:
            raise self._error("text_too_long", f"A text is longer than {MAX_TEXT} characters.", "Shorten it.", line)
        if _CONTROL.search(value):
            raise self._error("bad_character", "There is a control character in a text.", "Remove it.", line)
        node = Text(line, value, is_null=event.implicit[0] and value in _NULLS)
        if event.anchor:
            self._count_anchor(line)
            self.anchors[event.anchor] = node
        self._place(node, line)

    def _begin(self, event: ev.CollectionStartEvent, line: int) -> None:
        self._check_tag(event.tag, line)
        if event.anchor:
            self._count_anchor(line)
        if len(self.open) >= MAX_DEPTH:
            raise self._error(
                "too_deep", f"The file nests deeper than {MAX_DEPTH} levels.", "Remove brackets or levels.", line
            )
        node = Table(line) if isinstance(event, ev.MappingStartEvent) else Items(line)
        self.open.append((node, event.anchor))
        self.keys.append(None)

    def _place(self, node: Node, line: int) -> None:
        """Put a finished node where it belongs."""
        size = 1 if isinstance(node, Text) else node.size
        if not self.open:
            self.root = node
            return
        parent = self.open[-1][0]
        parent.size += size
        if parent.size > MAX_NODES:
            raise self._error(
                "too_many_values", f"The file unfolds to more than {MAX_NODES} values.", "Use fewer aliases.", line
            )
        if isinstance(parent, Items):
            parent.items.append(node)
        elif self.keys[-1] is None:
            if not isinstance(node, Text):
                raise self._error(
                    "bad_key", "A key must be a word.", "Remove the list or mapping before the colon.", line
                )
            self.keys[-1] = Text(line, node.value)
        else:
            self._pair(parent, self.keys[-1], node)
            self.keys[-1] = None

    def _pair(self, table: Table, key: Text, node: Node) -> None:
        """Add a key with its value; `<<` merges what is not there."""
        if key.value == "<<":
            for base in node.items if isinstance(node, Items) else [node]:
                if not isinstance(base, Table):
                    raise self._error(
                        "bad_merge", "<< merges mappings only.", "Write <<: *name of a mapping.", key.line
                    )
                for name, value in base.values.items():
                    if name not in table.values:
                        table.values[name], table.key_lines[name] = value, base.key_lines[name]
                        table.merged.add(name)
            return
        if key.value in table.values and key.value not in table.merged:
            first = table.key_lines[key.value]
            message = f"The key {key.value} stands twice; the first is in line {first}."
            self.doubles.append(self._error("duplicate_key", message, "Keep one of them.", key.line, key.value))
        table.merged.discard(key.value)
        table.values[key.value], table.key_lines[key.value] = node, key.line

    def _count_anchor(self, line: int) -> None:
        if len(self.anchors) >= MAX_ANCHORS:
            raise self._error(
                "too_many_anchors", f"The file has more than {MAX_ANCHORS} anchors.", "Write values out.", line
            )

    def _check_tag(self, tag: str | None, line: int) -> None:
        if tag and not _CORE_TAGS.fullmatch(tag):
            raise self._error("yaml_tag", f"The tag {tag} is not allowed.", "Write the value without a tag.", line)

    def _error(self, code: str, message: str, hint: str, line: int, key: str | None = None) -> BadInput:
        return BadInput(code, message, hint=hint, where=Where(self.file, line, key))
