"""From YAML text to a plain tree in which every value knows its line and column.

Only the core types of YAML 1.1 are read, so that a tag cannot make an object; size, nesting and the growth through
aliases are bounded, because the file comes over the network. Knows nothing about what a file means.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import yaml
from yaml import CSafeLoader

from relay.allowlist.findings import Finding, Severity, shown

#: In characters. The real lists have some thousands.
MAX_CHARACTERS = 1024 * 1024
MAX_DEPTH = 16
MAX_NODES = 50_000
#: Longer numbers are no numbers; YAML 1.1's base-60 integers take quadratic time to read.
_MAX_NUMBER_CHARACTERS = 100

_CORE = "tag:yaml.org,2002:"
_SCALARS = frozenset(_CORE + kind for kind in ("null", "bool", "int", "float", "str", "timestamp"))
#: What PyYAML's scalar constructors raise on a malformed value of an explicit type (`!!bool maybe`, `2026-13-40`).
_BAD_SCALAR = (yaml.YAMLError, ValueError, KeyError, IndexError, AttributeError, TypeError, OverflowError)


@dataclass(frozen=True, slots=True)
class Scalar:
    """One value. `value` is what YAML makes of it, `text` how it stands in the file."""

    line: int
    column: int
    text: str
    value: object

    @property
    def is_null(self) -> bool:
        """Whether nothing stands here."""
        return self.value is None

    @property
    def words(self) -> str:
        """The value as text: numbers and truth values are spelt as Python does, as the original relay does."""
        return str(self.value)


@dataclass(frozen=True, slots=True)
class Sequence:
    """A list."""

    line: int
    column: int
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Mapping:
    """A mapping in the order of the file; no two keys have the same text."""

    line: int
    column: int
    pairs: tuple[tuple[Scalar, Node], ...]

    def get(self, key: str) -> Node | None:
        """The value under a text key."""
        return next((value for name, value in self.pairs if name.value == key), None)


Node: TypeAlias = Scalar | Sequence | Mapping


class UnreadableError(Exception):
    """The text is not YAML, or not the plain kind that is read here."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding


def error_at(node: Node, message: str) -> Finding:
    """An error at the place of a value."""
    return Finding(node.line, node.column, Severity.ERROR, message)


def warning_at(node: Node, message: str) -> Finding:
    """A warning at the place of a value."""
    return Finding(node.line, node.column, Severity.WARNING, message)


def kind(node: Node) -> str:
    """What a value is, in a message's words."""
    if isinstance(node, Sequence):
        return "a list"
    if isinstance(node, Mapping):
        return "a mapping"
    return "nothing" if node.is_null else shown(node.text)


def read_tree(text: str) -> Node | None:
    """The tree of a text, None for one without a value.

    Raises:
        UnreadableError: it is not YAML, or not of the kind that is read here.
    """
    if len(text) > MAX_CHARACTERS:
        raise UnreadableError(_error(1, 1, f"larger than {MAX_CHARACTERS // 1024 // 1024} million characters"))
    try:
        loader = CSafeLoader(text)
        root = loader.get_single_node()
    except yaml.YAMLError as error:
        raise UnreadableError(_syntax(error, text)) from error
    except UnicodeEncodeError as error:
        raise UnreadableError(_error(*_place_at(text, error.start), "not UTF-8 text")) from error
    return None if root is None else _Reader(loader).node(root)


class _Reader:
    """Walks the graph once per use of a node, so that aliases cost what they expand to and count as that."""

    def __init__(self, loader: CSafeLoader) -> None:
        self._loader = loader
        self._left = MAX_NODES

    def node(self, found: yaml.Node, depth: int = 0) -> Node:
        self._count(found, depth)
        line, column = found.start_mark.line + 1, found.start_mark.column + 1
        if isinstance(found, yaml.ScalarNode):
            return Scalar(line, column, found.value, self._value(found))
        if isinstance(found, yaml.MappingNode):
            _expect(found, "map")
            return Mapping(line, column, tuple(self._pairs(found, depth)))
        _expect(found, "seq")
        return Sequence(line, column, tuple(self.node(item, depth + 1) for item in found.value))

    def _count(self, found: yaml.Node, depth: int) -> None:
        self._left -= 1
        if self._left < 0:
            raise _refused(found, f"the aliases of this file expand to more than {MAX_NODES} values")
        if depth > MAX_DEPTH:
            raise _refused(found, f"nested deeper than {MAX_DEPTH} levels, or an alias that contains itself")

    def _pairs(self, found: yaml.MappingNode, depth: int) -> Iterator[tuple[Scalar, Node]]:
        lines: dict[str, int] = {}
        for key_node, value_node in found.value:
            key = self._key(key_node)
            # YAML parsers disagree about a key that stands twice: one keeps the last, another refuses the file.
            if key.words in lines:
                raise _refused(key_node, f"the key {shown(key.text)} stands in line {lines[key.words]} already")
            lines[key.words] = key.line
            yield key, self.node(value_node, depth + 1)

    def _key(self, found: yaml.Node) -> Scalar:
        if not isinstance(found, yaml.ScalarNode):
            raise _refused(found, "a key must be plain text, not a list or a mapping")
        key = self.node(found)
        assert isinstance(key, Scalar)  # noqa: S101 - a scalar node gives a Scalar
        return key

    def _value(self, found: yaml.ScalarNode) -> object:
        if found.tag not in _SCALARS:
            raise _refused(found, f"the YAML form {shown(found.value)} has no place here; quote it if it is text")
        if found.tag == f"{_CORE}str":
            return found.value
        if len(found.value) > _MAX_NUMBER_CHARACTERS:
            raise _refused(found, f"a value of {len(found.value)} characters that is not text; quote it")
        try:
            value: object = self._loader.construct_object(found)
        except _BAD_SCALAR as error:
            raise _refused(found, f"{shown(found.value)} is no valid value; quote it if it is text") from error
        return value


def _expect(found: yaml.Node, wanted: str) -> None:
    if found.tag != _CORE + wanted:
        raise _refused(found, f"the YAML type {shown(found.tag)} has no place here")


def _error(line: int, column: int, message: str) -> Finding:
    return Finding(line, column, Severity.ERROR, message)


def _refused(found: yaml.Node, message: str) -> UnreadableError:
    return UnreadableError(_error(found.start_mark.line + 1, found.start_mark.column + 1, message))


def _syntax(error: yaml.YAMLError, text: str) -> Finding:
    marked = error if isinstance(error, yaml.MarkedYAMLError) else None
    mark = marked and (marked.problem_mark or marked.context_mark)
    if not marked or not mark:
        return _error(*_place_at(text, getattr(error, "position", 0)), "not valid YAML: a character it does not allow")
    line, column = mark.line + 1, mark.column + 1
    words = ", ".join(part for part in (marked.context, marked.problem) if part)
    return _error(line, column, _hint(text, line, column) or f"not valid YAML: {words}")


def _hint(text: str, line: int, column: int) -> str:
    """What people get wrong most in such a file, in better words than the parser's."""
    lines = text.split("\n", line)
    character = lines[line - 1][column - 1 : column] if line <= len(lines) else ""
    if character == "@":
        return "a name that starts with @ must stand in quotes"
    return "a tab; YAML is indented with spaces only" if character == "\t" else ""


def _place_at(text: str, position: int) -> tuple[int, int]:
    before = text[:position]
    return before.count("\n") + 1, position - before.rfind("\n")
