"""One test file taken apart: its header, imports, classes and functions.

Reads text only, each line once. An outline is a function of path and text alone, which is what makes it worth keeping
(`selector.catalog.record`); resolving names across files is the business of `selector.catalog.assembly`.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from selector.catalog.imports import read_imports
from selector.catalog.marks import Decoration, read_decoration
from selector.source import parse_module, source_lines, words

_OWNERS = re.compile(r"^#\s*Owner\(s\):\s*(\[.*\])", re.MULTILINE)
#: Literal first, then the start of the word: a search for a literal is many times quicker than one for a word break.
_TORCH_NAME = re.compile(r"torch(?<!\wtorch)(?:\.[A-Za-z_]\w*)+")
#: Ways in which test files make tests that are written nowhere as a method.
_MAKES_TESTS = re.compile(r"\bsetattr\(|\bglobals\(\)(?:\[|\.update)|\bimport \*")
_MAKING = ("setattr(", "globals()", "import *")
#: A file that says none of these starts no other file, whatever names its strings hold.
_STARTING = ("subprocess", "Popen", "run_test", "runpy", "execv", "os.system", "multiprocessing", "launch")
_SCRIPT = re.compile(r"""["']((?:[\w-]+/)*[\w-]+\.py)["']""")
_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_HEADER_LINES = 30

_NO_WORDS: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Method:
    """A function or method: the identifiers of its text with decorators, and its decorators as facts."""

    words: frozenset[str]
    decoration: Decoration


@dataclass(slots=True)
class ClassOutline:
    """A class with its base names as written (dotted) and its own methods. `loose` are the words of its text outside
    the methods."""

    name: str
    bases: tuple[str, ...]
    loose: frozenset[str]
    methods: dict[str, Method] = field(default_factory=dict)

    @property
    def words(self) -> frozenset[str]:
        """The identifiers of the whole class."""
        return self.loose.union(*(method.words for method in self.methods.values()))


@dataclass(slots=True)
class FileOutline:
    """What one test file says. `imported` maps a local name to the module and name it comes from; `starred` are modules
    from which it takes everything; `scripts` are `.py` names in its strings, if it starts processes; `instantiated` are
    classes handed to one of the `instantiate_..._tests` functions; `makes_tests`: some tests are made on import.
    `nested` are classes with tests that stand in another class, named `Outer.Inner`; only what inherits from them runs.
    `loose` are the words outside classes and functions, or all of them when the file does not parse."""

    path: str
    owners: tuple[str, ...]
    imports: frozenset[str]
    uses: frozenset[str]
    parsed: bool
    loose: frozenset[str] = _NO_WORDS
    makes_tests: bool = False
    classes: dict[str, ClassOutline] = field(default_factory=dict)
    nested: dict[str, ClassOutline] = field(default_factory=dict)
    functions: dict[str, Method] = field(default_factory=dict)
    imported: dict[str, tuple[str, str]] = field(default_factory=dict)
    instantiated: frozenset[str] = _NO_WORDS
    starred: tuple[str, ...] = ()
    scripts: tuple[str, ...] = ()

    @property
    def words(self) -> frozenset[str]:
        """The identifiers of the whole file."""
        classes = (cls.words for cls in self.classes.values())
        return self.loose.union(*classes, *(function.words for function in self.functions.values()))


Outlines = Mapping[str, FileOutline]
_Part = TypeVar("_Part", Method, ClassOutline)


def unreadable_outline(path: str) -> FileOutline:
    """The outline of a file that cannot be read as text: nothing is known but that it is there."""
    return FileOutline(path, (), _NO_WORDS, _NO_WORDS, parsed=False)


def read_outline(path: str, text: str) -> FileOutline:
    """Take a test file apart. A file that does not parse keeps header, imports and words."""
    imports = read_imports(path, text)
    outline = FileOutline(path, _owners(text), imports.names, _dotted_uses(text), parsed=False)
    outline.starred = imports.starred
    outline.makes_tests = any(said in text for said in _MAKING) and _MAKES_TESTS.search(text) is not None
    outline.scripts = _scripts(text)
    module = parse_module(text)
    if module is None:
        outline.loose = words(text)
        return outline
    outline.parsed = True
    outline.imported = imports.local
    _Reader(outline, source_lines(text)).read(module)
    return outline


class _Reader:
    """Fills an outline from a syntax tree. Only module and class level are walked; bodies are read as text, which is
    several times quicker over PyTorch's 450,000 lines of tests."""

    def __init__(self, outline: FileOutline, lines: list[str]) -> None:
        self._outline = outline
        self._lines = lines

    def read(self, module: ast.Module) -> None:
        outline = self._outline
        taken: list[range] = []
        replaced: list[frozenset[str]] = []
        instantiated: set[str] = set()
        for statement in _flatten(module.body):
            if isinstance(statement, _FUNCTIONS):
                _put(outline.functions, statement.name, self._method(statement), replaced)
                taken.append(_lines_of(statement))
            elif isinstance(statement, ast.ClassDef):
                _put(outline.classes, statement.name, self._class(statement), replaced)
                outline.nested.update(self._nested(statement))
                taken.append(_lines_of(statement))
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                instantiated.update(_instantiated(statement.value))
        outline.instantiated = frozenset(instantiated)
        outline.loose = self._loose(range(len(self._lines)), taken).union(*replaced)

    def _class(self, node: ast.ClassDef) -> ClassOutline:
        bases = tuple(name for base in node.bases if (name := _dotted_name(base)))
        methods: dict[str, Method] = {}
        replaced: list[frozenset[str]] = []
        own = [statement for statement in _flatten(node.body) if isinstance(statement, _FUNCTIONS)]
        for statement in own:
            _put(methods, statement.name, self._method(statement), replaced)
        loose = self._loose(_lines_of(node), [_lines_of(statement) for statement in own])
        return ClassOutline(node.name, bases, loose.union(*replaced), methods)

    def _nested(self, node: ast.ClassDef) -> Iterator[tuple[str, ClassOutline]]:
        for statement in _flatten(node.body):
            if isinstance(statement, ast.ClassDef):
                cls = self._class(statement)
                if any(name.startswith("test") for name in cls.methods):
                    cls.name = f"{node.name}.{statement.name}"
                    yield cls.name, cls

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Method:
        span = _lines_of(node)
        return Method(words("\n".join(self._lines[span.start : span.stop])), read_decoration(node.decorator_list))

    def _loose(self, whole: range, taken: Iterable[range]) -> frozenset[str]:
        """Words of the lines of `whole` that none of `taken`, which lie in it in order, covers. A definition starts and
        ends with a line of its own."""
        rest: list[str] = []
        at = whole.start
        for span in taken:
            rest += self._lines[at : span.start]
            at = span.stop
        rest += self._lines[at : whole.stop]
        return words("\n".join(rest))


def _put(parts: dict[str, _Part], name: str, part: _Part, replaced: list[frozenset[str]]) -> None:
    """Add a definition; the words of an earlier one of the same name, which Python forgets, are kept as `replaced`."""
    if name in parts:
        replaced.append(parts[name].words)
    parts[name] = part


def _lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> range:
    """The lines of a definition with its decorators, counted from 0."""
    first = node.decorator_list[0].lineno if node.decorator_list else node.lineno
    return range(first - 1, node.end_lineno or node.lineno)


def _instantiated(call: ast.Call) -> Iterator[str]:
    if call.args and (_last_name(call.func) or "").startswith("instantiate_"):
        yield _last_name(call.args[0]) or ""


def _flatten(statements: Iterable[ast.stmt | ast.ExceptHandler]) -> Iterator[ast.stmt]:
    """Statements of a body with those inside `if`, `try`, `with` and loops, in source order. Without recursion: an
    `elif` chain of a hostile file nests as deep as the parser allows."""
    waiting = list(reversed(list(statements)))
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, _BLOCKS):
            inner = (child for child in ast.iter_child_nodes(statement))
            found = [child for child in inner if isinstance(child, (ast.stmt, ast.ExceptHandler))]
            waiting.extend(reversed(found))
        elif isinstance(statement, ast.stmt):
            yield statement


def _dotted_name(node: ast.expr) -> str | None:
    """The name of an expression: `common.TestCase`, `Base` of `Base[int]`, `make` of `make()`. What is no name before a
    dot is left away."""
    parts: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, (ast.Subscript, ast.Call)):
            node = node.value if isinstance(node, ast.Subscript) else node.func
        else:
            break
    else:
        parts.append(node.id)
    return ".".join(reversed(parts)) or None


def _last_name(node: ast.expr) -> str | None:
    """The last part of the name of an expression."""
    dotted = _dotted_name(node)
    return dotted.rpartition(".")[2] if dotted else None


def _owners(text: str) -> tuple[str, ...]:
    """Labels of the `# Owner(s): ["module: nn"]` line near the top of the file."""
    header = "\n".join(text.split("\n", _HEADER_LINES)[:_HEADER_LINES])
    match = _OWNERS.search(header)
    if match is None:
        return ()
    try:
        labels = json.loads(match.group(1))
    except (ValueError, RecursionError):
        return ()
    return tuple(label for label in labels if isinstance(label, str))


def _scripts(text: str) -> tuple[str, ...]:
    if ".py" not in text or not any(said in text for said in _STARTING):
        return ()
    return tuple(sorted(set(_SCRIPT.findall(text))))


def _dotted_uses(text: str) -> frozenset[str]:
    found: set[str] = set()
    for name in set(_TORCH_NAME.findall(text)):
        parts = name.split(".")
        found.update(".".join(parts[:size]) for size in range(2, len(parts) + 1))
    return frozenset(found)
