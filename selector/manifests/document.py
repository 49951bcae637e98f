"""From the text of a manifest to plain data in which every key and value still knows its line and column.

The dialect is PyYAML's safe loader, YAML 1.1 with anchors, aliases and merge keys (`oot-manifests.md` 1.1). Only the
core types are built, so a tag can not make an object. Size, nesting and the growth through aliases are bounded,
because a manifest may come from a pull request. Knows nothing about what a manifest means.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import yaml
from yaml import CSafeLoader

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
    """Plain data with the place of every value and of every key, by path from the root."""

    name: str
    data: object = None
    values: dict[Path, Place] = field(default_factory=dict)
    keys: dict[Path, Place] = field(default_factory=dict)

    def place(self, path: Path) -> Place:
        """Where the value at `path` starts, or its nearest known ancestor."""
        for length in range(len(path), -1, -1):
            if (found := self.values.get(path[:length])) is not None:
                return found
        return Place(1, 1)

    def key_place(self, path: Path) -> Place:
        """Where the key at the end of `path` stands."""
        return self.keys.get(path) or self.place(path)

    def finding(self, place: Place, message: str, severity: Severity = Severity.ERROR) -> Finding:
        return Finding(self.name, place.line, place.column, severity, message)


def read_document(document: ManifestDocument) -> tuple[Placed, list[Finding]]:
    """Parse one manifest. With an error among the findings, the data is incomplete and must not be used."""
    placed = Placed(document.name)
    if refusal := _refuse(document.text):
        return placed, [placed.finding(*refusal)]
    try:
        loader = CSafeLoader(document.text)
        root = loader.get_single_node()
    except yaml.YAMLError as error:
        return placed, [placed.finding(*_syntax(error, document.text))]
    if root is None:
        placed.data = {}
        return placed, []
    reader = _Reader(placed, loader)
    try:
        placed.data = reader.value(root, ())
    except _RefusedError as refused:
        reader.findings.append(placed.finding(refused.place, refused.message))
    return placed, reader.findings


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

    def value(self, node: yaml.Node, path: Path, depth: int = 0) -> object:
        self._count(node, depth)
        self.placed.values[path] = _start(node)
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path, depth)
        if isinstance(node, yaml.SequenceNode):
            self._expect_tag(node, f"{_CORE}seq")
            return [self.value(item, (*path, index), depth + 1) for index, item in enumerate(node.value)]
        return self._scalar(node)

    def _count(self, node: yaml.Node, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise _RefusedError(
                node, f"the aliases of this file expand to more than {MAX_NODES} values; write fewer of them"
            )
        if depth > MAX_DEPTH:
            raise _RefusedError(node, f"nested deeper than {MAX_DEPTH} levels, or an alias that contains itself")

    def _mapping(self, node: yaml.MappingNode, path: Path, depth: int) -> dict[object, object]:
        self._expect_tag(node, f"{_CORE}map")
        result: dict[object, object] = {}
        # Merged mappings come first, the most preferred one last, so that the places of the winners stay.
        for source in reversed(self._merge_sources(node)):
            self._count(source, depth)
            result.update(self._mapping(source, path, depth + 1))
        own: set[object] = set()
        for key_node, value_node in node.value:
            if key_node.tag == _MERGE:
                continue
            key = self._key(key_node, own)
            key_path = (*path, key if isinstance(key, str) else repr(key))
            result[key] = self.value(value_node, key_path, depth + 1)
            self.placed.keys[key_path] = _start(key_node)
        return result

    def _key(self, node: yaml.Node, own: set[object]) -> object:
        if not isinstance(node, yaml.ScalarNode):
            raise _RefusedError(node, "a key must be plain text, not a list or a mapping")
        self._count(node, 0)
        key = self._scalar(node)
        if key in own:
            self._warn(node, f"the key {shown(key)} stands twice in this mapping; the last one wins")
        own.add(key)
        return key

    def _merge_sources(self, node: yaml.MappingNode) -> list[yaml.MappingNode]:
        sources: list[yaml.MappingNode] = []
        for key_node, value_node in node.value:
            if key_node.tag != _MERGE:
                continue
            for source in value_node.value if isinstance(value_node, yaml.SequenceNode) else [value_node]:
                if not isinstance(source, yaml.MappingNode):
                    raise _RefusedError(source, "`<<` takes a mapping or a list of mappings")
                sources.append(source)
        return sources

    def _scalar(self, node: yaml.Node) -> object:
        if node.tag not in _SCALARS:
            raise _RefusedError(node, f"the YAML type {shown(node.tag)} has no place here; quote it if it is text")
        if node.tag == _TEXT:
            return node.value
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

    def _warn(self, node: yaml.Node, message: str) -> None:
        self.findings.append(self.placed.finding(_start(node), message, Severity.WARNING))


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
        words = ", ".join(part for part in (error.context, error.problem) if part)
        mark = error.problem_mark or error.context_mark
        place = Place(mark.line + 1, mark.column + 1) if mark else Place(1, 1)
        return place, f"not valid YAML: {words}"
    position = getattr(error, "position", None)
    place = _place_at(text, position) if isinstance(position, int) else Place(1, 1)
    return place, "not valid YAML: a character that YAML does not allow"


def _place_at(text: str, position: int) -> Place:
    before = text[:position]
    return Place(before.count("\n") + 1, position - before.rfind("\n"))
