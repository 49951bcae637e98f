"""One test file taken apart: its header, imports, classes and functions.

Reads text only. Resolving base classes across files is the business of `selector.catalog.assembly`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from selector.source import parse_module, source_lines, words

_OWNERS = re.compile(r"^#\s*Owner\(s\):\s*(\[.*\])", re.MULTILINE)
_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+import[ \t]+(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))", re.MULTILINE
)
_TORCH_NAME = re.compile(r"\btorch(?:\.[A-Za-z_]\w*)+")
#: Ways in which test files make tests that are written nowhere as a method.
_MAKES_TESTS = re.compile(r"\bsetattr\(|\bglobals\(\)(?:\[|\.update)|\bimport \*")
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)
_HEADER_LINES = 30


@dataclass(frozen=True, slots=True)
class Method:
    """A function or method: the identifiers of its text and those of its decorators."""

    words: frozenset[str]
    decorators: frozenset[str]


@dataclass(slots=True)
class ClassOutline:
    """A class with its base names as written (last part) and its own methods. `words` is its whole text."""

    name: str
    bases: tuple[str, ...]
    words: frozenset[str]
    methods: dict[str, Method] = field(default_factory=dict)


@dataclass(slots=True)
class FileOutline:
    """What one test file says. `imported` maps a local name to the module and name it comes from; `instantiated` are
    classes handed to one of the `instantiate_..._tests` functions; `makes_tests`: some tests are made on import."""

    path: str
    owners: tuple[str, ...]
    imports: frozenset[str]
    uses: frozenset[str]
    parsed: bool
    words: frozenset[str] = frozenset()
    makes_tests: bool = False
    classes: dict[str, ClassOutline] = field(default_factory=dict)
    functions: dict[str, Method] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    instantiated: set[str] = field(default_factory=set)


def read_outline(path: str, text: str) -> FileOutline:
    """Take a test file apart. A file that does not parse keeps header, imports and words."""
    module = parse_module(text)
    imported = dict(_imported_names(path, text))
    imports = frozenset(name for name, _ in _imports(path, text))
    outline = FileOutline(path, _owners(text), imports, _dotted_uses(text), parsed=module is not None)
    outline.words = words(text)
    outline.makes_tests = _MAKES_TESTS.search(text) is not None
    if module is None:
        return outline
    outline.imported = imported
    _Reader(outline, source_lines(text)).read(module)
    return outline


class _Reader:
    """Fills an outline from a syntax tree. Only module and class level are walked; bodies are read as text, which is
    several times quicker over PyTorch's 450,000 lines of tests."""

    def __init__(self, outline: FileOutline, lines: list[str]) -> None:
        self._outline = outline
        self._lines = lines

    def read(self, module: ast.Module) -> None:
        for statement in _flatten(module.body):
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self._outline.functions[statement.name] = self._method(statement)
            elif isinstance(statement, ast.ClassDef):
                self._outline.classes[statement.name] = self._class(statement)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._note_instantiation(statement.value)

    def _class(self, node: ast.ClassDef) -> ClassOutline:
        bases = tuple(name for base in node.bases if (name := _base_name(base)))
        outline = ClassOutline(node.name, bases, self._words(node))
        for statement in _flatten(node.body):
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
                outline.methods[statement.name] = self._method(statement)
        return outline

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Method:
        decorators = frozenset(name for decorator in node.decorator_list for name in _names(decorator))
        return Method(self._words(node), decorators)

    def _words(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> frozenset[str]:
        first = min((decorator.lineno for decorator in node.decorator_list), default=node.lineno)
        return words("\n".join(self._lines[first - 1 : node.end_lineno]))

    def _note_instantiation(self, call: ast.Call) -> None:
        if (_base_name(call.func) or "").startswith("instantiate_") and call.args:
            self._outline.instantiated.add(_base_name(call.args[0]) or "")


def _flatten(statements: Iterable[ast.stmt | ast.ExceptHandler]) -> Iterator[ast.stmt]:
    """Statements of a body with those inside `if`, `try`, `with` and loops, in source order."""
    for statement in statements:
        if isinstance(statement, _BLOCKS):
            inner = (child for child in ast.iter_child_nodes(statement))
            yield from _flatten(child for child in inner if isinstance(child, (ast.stmt, ast.ExceptHandler)))
        elif isinstance(statement, ast.stmt):
            yield statement


def _base_name(node: ast.expr) -> str | None:
    """The last name of a base class expression: `TestCase` of `common.TestCase`, `Base` of `Base[int]`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        return _base_name(node.value)
    return _base_name(node.func) if isinstance(node, ast.Call) else None


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def _owners(text: str) -> tuple[str, ...]:
    """Labels of the `# Owner(s): ["module: nn"]` line near the top of the file."""
    header = "\n".join(text.split("\n", _HEADER_LINES)[:_HEADER_LINES])
    match = _OWNERS.search(header)
    if match is None:
        return ()
    try:
        labels = json.loads(match.group(1))
    except ValueError:
        return ()
    return tuple(label for label in labels if isinstance(label, str))


def _imports(path: str, text: str) -> Iterator[tuple[str, str]]:
    """Pairs of imported dotted name and the local name it is bound to, `from` imports with their module as well."""
    for module, names, plain in _IMPORT.findall(text):
        if plain:
            yield from ((name, alias or name.split(".")[0]) for name, alias in _import_items(plain))
        else:
            absolute = _absolute(path, module)
            yield absolute, ""
            yield from ((f"{absolute}.{name}", alias or name) for name, alias in _import_items(names))


def _import_items(listing: str) -> Iterator[tuple[str, str]]:
    listing = re.sub(r"#[^\n]*", "", listing).strip("()\\ \t\n")
    for item in listing.split(","):
        name, _, alias = item.strip().partition(" as ")
        if re.fullmatch(r"[\w.]+", name.strip()):
            yield name.strip(), alias.strip()


def _imported_names(path: str, text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    for dotted, local in _imports(path, text):
        module, _, name = dotted.rpartition(".")
        if local and module:
            yield local, (module, name)


def _absolute(path: str, module: str) -> str:
    """A relative module of a file as a dotted path from the root of the tree: `.common` -> `test.inductor.common`."""
    dots = len(module) - len(module.lstrip("."))
    if not dots:
        return module
    parents = list(PurePosixPath(path).parents)
    folder = parents[min(dots - 1, len(parents) - 1)]
    return ".".join(part for part in (*folder.parts, module.lstrip(".")) if part)


def _dotted_uses(text: str) -> frozenset[str]:
    found: set[str] = set()
    for name in set(_TORCH_NAME.findall(text)):
        parts = name.split(".")
        found.update(".".join(parts[:size]) for size in range(2, len(parts) + 1))
    return frozenset(found)


Outlines = Mapping[str, FileOutline]
