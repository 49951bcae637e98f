"""From the text of a manifest to plain data, with the line and column of every key and value at hand.

The dialect is PyYAML's safe loader, YAML 1.1 with anchors, aliases and merge keys (`oot-manifests.md` 1.1). Only the
core types are built, so a tag can not make an object. Size, nesting and the growth through aliases are bounded,
because a manifest may come from a pull request. Knows nothing about what a manifest means.
"""

from __future__ import annotations

from dataclasses import dataclass

import yaml
from yaml import CSafeLoader

from selector.collector import collector_paused
from selector.manifests.findings import Finding, Place, Severity, shown

MAX_BYTES = 2 * 1024 * 1024
MAX_DEPTH = 64
MAX_NODES = 200_000
#: Longer numbers are no numbers; YAML 1.1's base-60 integers take quadratic time to read.
MAX_NUMBER_CHARACTERS = 100

Path = tuple[str | int, ...]

_CORE = "tag:yaml.org,2002:"
_MERGE = f"{_CORE}merge"
_TEXT = f"{_CORE}str"
_SCALARS = frozenset(_CORE + kind for kind in ("null", "bool", "int", "float", "str", "timestamp"))
#: What PyYAML's scalar constructors raise on a malformed value of an explicit type (`!!bool maybe`, `2026-13-40`).
_BAD_SCALAR = (yaml.YAMLError, ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)


@dataclass(frozen=True, slots=True)
class ManifestDocument:
    """A manifest as it was handed in. `name` stands in provenances and findings (`demo/demo.yaml`)."""

    name: str
    text: str


@dataclass(slots=True)
class Placed:
    """Plain data with its node graph, from which the place of any value or key is found when it is asked for.

    Almost all of a manifest is right, so that places are looked up rarely and are not worth a table.
    """

    name: str
    data: object = None
    root: yaml.Node | None = None

    def place(self, path: Path) -> Place:
        """Where the value at `path` starts, or its nearest known ancestor."""
        found = self.root
        for part in path:
            if found is None or (pair := _step(found, part)) is None:
                break
            found = pair[1]
        return Place(1, 1) if found is None else _start(found)

    def key_place(self, path: Path) -> Place:
        """Where the key at the end of `path` stands; for an item of a list, where the item starts."""
        pair: tuple[yaml.Node, yaml.Node] | None = None
        found = self.root
        for part in path:
            pair = None if found is None else _step(found, part)
            if pair is None:
                return self.place(path)
            found = pair[1]
        return self.place(path) if pair is None else _start(pair[0])

    def finding(self, place: Place, message: str, severity: Severity = Severity.ERROR, rule: str = "") -> Finding:
        return Finding(self.name, place.line, place.column, severity, message, rule)


def _step(node: yaml.Node, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    """The key and the value below `node`; an item of a list is its own key. None when there is no such thing."""
    if isinstance(node, yaml.SequenceNode):
        inside = isinstance(part, int) and part < len(node.value)
        return (node.value[part], node.value[part]) if inside else None
    if not isinstance(node, yaml.MappingNode):
        return None
    own = [(key, value) for key, value in node.value if key.tag != _MERGE and key.value == part]
    if own:
        return own[-1]
    merged = (_step(source, part) for source in _merge_sources(node))
    return next((pair for pair in merged if pair), None)


def read_document(document: ManifestDocument) -> tuple[Placed, list[Finding]]:
    """Parse one manifest. With an error among the findings, the data is incomplete and must not be used."""
    placed = Placed(document.name)
    if refusal := _refuse(document.text):
        return placed, [placed.finding(*refusal, rule="unsafe-yaml")]
    with collector_paused():
        return placed, _read(document, placed)


def _read(document: ManifestDocument, placed: Placed) -> list[Finding]:
    try:
        loader = CSafeLoader(document.text)
        placed.root = loader.get_single_node()
    except yaml.YAMLError as error:
        return [placed.finding(*_syntax(error, document.text), rule="yaml-syntax")]
    if placed.root is None:
        placed.data = {}
        return []
    reader = _Reader(placed, loader)
    try:
        placed.data = reader.value(placed.root)
    except _RefusedError as refused:
        reader.findings.append(placed.finding(refused.place, refused.message, rule="unsafe-yaml"))
    return reader.findings


class _RefusedError(Exception):
    """A node that must not or can not be read; carries the finding's text and place."""

    def __init__(self, node: yaml.Node, message: str) -> None:
        super().__init__(message)
        self.place = _start(node)
        self.message = message


class _Reader:
    """Walks the node graph once per use of a node, so that aliases cost what they expand to and count as that."""

    def __init__(self, placed: Placed, loader: CSafeLoader) -> None:
        self.placed = placed
        self.loader = loader
        self.findings: list[Finding] = []
        self._left = MAX_NODES

    def value(self, node: yaml.Node, depth: int = 0) -> object:
        self._count(node, depth)
        if isinstance(node, yaml.ScalarNode):
            return node.value if node.tag == _TEXT else self._scalar(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, depth)
        self._expect_tag(node, f"{_CORE}seq")
        return [self.value(item, depth + 1) for item in node.value]

    def _count(self, node: yaml.Node, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise _RefusedError(
                node, f"the aliases of this file expand to more than {MAX_NODES} values; write fewer of them"
            )
        if depth > MAX_DEPTH:
            raise _RefusedError(node, f"nested deeper than {MAX_DEPTH} levels, or an alias that contains itself")

    def _mapping(self, node: yaml.MappingNode, depth: int) -> dict[object, object]:
        self._expect_tag(node, f"{_CORE}map")
        result: dict[object, object] = {}
        # Merged mappings come first, the most preferred one last, so that its values stay.
        for source in reversed(_merge_sources(node)):
            self._count(source, depth)
            result.update(self._mapping(source, depth + 1))
        own: dict[object, yaml.Node] = {}
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                continue
            result[self._key(key_node, own)] = self.value(value_node, depth + 1)
        return result

    def _key(self, node: yaml.Node, own: dict[object, yaml.Node]) -> object:
        if not isinstance(node, yaml.ScalarNode):
            raise _RefusedError(node, "a key must be plain text, not a list or a mapping")
        self._count(node, 0)
        key: object = node.value if node.tag == _TEXT else self._scalar(node)
        if (first := own.setdefault(key, node)) is not node:
            line = _start(first).line
            message = f"the key {shown(key)} stands in line {line} already, in the same mapping; the last one wins"
            self.findings.append(self.placed.finding(_start(node), message, Severity.WARNING, "duplicate-key"))
            own[key] = node
        return key

    def _scalar(self, node: yaml.Node) -> object:
        if node.tag not in _SCALARS:
            raise _RefusedError(node, f"the YAML type {shown(node.tag)} has no place here; quote it if it is text")
        if len(node.value) > MAX_NUMBER_CHARACTERS:
            raise _RefusedError(node, f"a value of {len(node.value)} characters that is not text; quote it")
        try:
            value: object = self.loader.construct_object(node)
        except _BAD_SCALAR as error:
            kind = node.tag.removeprefix(_CORE)
            raise _RefusedError(node, f"{shown(node.value)} is no valid {kind}; quote it if it is text") from error
        return value

    def _expect_tag(self, node: yaml.Node, tag: str) -> None:
        if node.tag != tag:
            raise _RefusedError(node, f"the YAML type {shown(node.tag)} has no place here")


def _merge_sources(node: yaml.MappingNode) -> list[yaml.MappingNode]:
    sources: list[yaml.MappingNode] = []
    for key_node, value_node in node.value:
        if key_node.tag != _MERGE:
            continue
        for source in value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]:
            if not isinstance(source, yaml.MappingNode):
                raise _RefusedError(source, "`<<` takes a mapping or a list of mappings")
            sources.append(source)
    return sources


def _start(node: yaml.Node) -> Place:
    mark = node.start_mark
    return Place(mark.line + 1, mark.column + 1)


def _refuse(text: str) -> tuple[Place, str] | None:
    # Characters before bytes: a huge text is refused without a copy of it.
    if len(text) > MAX_BYTES:
        return Place(1, 1), f"larger than {MAX_BYTES // 1024 // 1024} MiB; split it into several manifests"
    try:
        size = len(text.encode())
    except UnicodeEncodeError as error:
        return _place_at(text, error.start), "not UTF-8 text; save the file as UTF-8"
    if size > MAX_BYTES:
        return Place(1, 1), f"larger than {MAX_BYTES // 1024 // 1024} MiB; split it into several manifests"
    return None


def _syntax(error: yaml.YAMLError, text: str) -> tuple[Place, str]:
    if isinstance(error, yaml.MarkedYAMLError):
        place = _mark_place(error)
        if _is_tab(text, place):
            return place, "a tab; YAML is indented with spaces only"
        words = ", ".join(part for part in (error.context, error.problem) if part)
        return place, f"not valid YAML: {words}"
    position = getattr(error, "position", None)
    place = _place_at(text, position) if isinstance(position, int) else Place(1, 1)
    return place, "not valid YAML: a character that YAML does not allow"


def _is_tab(text: str, place: Place) -> bool:
    lines = text.split("\n", place.line)
    return place.line <= len(lines) and lines[place.line - 1][place.column - 1 : place.column] == "\t"


def _mark_place(error: yaml.MarkedYAMLError) -> Place:
    mark = error.problem_mark or error.context_mark
    return Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)


def _place_at(text: str, position: int) -> Place:
    before = text[:position]
    return Place(before.count("\n") + 1, position - before.rfind("\n"))
