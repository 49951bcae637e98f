"""One Python file taken apart for comparing it with another version of itself: what each definition does, as a digest.

What a definition does is its syntax without comments, docstrings, annotations and the ways to spell `super()` and
`object`. A digest is of one text alone, so it is worth keeping (`definition_record`); which names lead where is the
business of `names`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from selector.change.shared_source import first_line
from selector.change.symbols import without_docstring
from selector.source import parse_module
from selector.upgrade.comparing.digests import Digest, imported_here

_BLOCKS = (ast.If, ast.Try, ast.With, ast.For, ast.While, ast.ExceptHandler)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_ROOTS_KEPT = frozenset({"self", "cls", "super"})


class Kind(StrEnum):
    """What a definition is; a name is bound by an assignment outside functions."""

    FUNCTION = "function"
    CLASS = "class"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Definition:
    """One function, class or name. `body` and `decoration` are digests, that of a class without what is defined in it;
    `uses` are the dotted names its text says, `attributes` what it asks of anything, `marks` the names of its
    decorators, `bases` those of a class. A symbol that is defined several times, as in both branches of an `if`, is one
    definition of all of them."""

    symbol: str
    kind: Kind
    line: int
    end_line: int
    body: str
    decoration: str
    uses: tuple[str, ...] = ()
    marks: tuple[str, ...] = ()
    bases: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


@dataclass(slots=True)
class FileDefinitions:
    """The definitions of one file by symbol (`Class.method`), in the order of the file. `imported` leads from a local
    name to the dotted name it stands for, `starred` are modules from which everything is taken; `loose` is the digest
    of the statements outside definitions. A file that does not parse has a digest of its text there."""

    path: str
    parsed: bool = False
    definitions: dict[str, Definition] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)
    starred: tuple[str, ...] = ()
    loose: str = ""


def read_definitions(path: str, text: str | None) -> FileDefinitions:
    """Take a file apart; one that is no text, or does not parse, has no definitions."""
    file = FileDefinitions(path)
    module = None if text is None else parse_module(text)
    if module is None:
        file.loose = Digest().of_text(text or "")
        return file
    try:
        _Reader(file).read(module)
    except RecursionError:
        return FileDefinitions(path, loose=Digest().of_text(text or ""))
    file.parsed = True
    return file


class _Reader:
    """Fills a file from its syntax tree."""

    def __init__(self, file: FileDefinitions) -> None:
        self._file = file
        self._parts: dict[str, list[Definition]] = {}
        self._stars: dict[str, None] = {}

    def read(self, module: ast.Module) -> None:
        loose = Digest()
        for statement in _flatten(module.body):
            if isinstance(statement, _BLOCKS):
                loose.write_head(statement)
            elif not self._define(statement, ""):
                self._import(statement)
                loose.write(statement)
        self._file.loose = loose.result()
        self._file.starred = tuple(self._stars)
        known = self._known_roots()
        self._file.definitions = {symbol: _one(parts, known) for symbol, parts in self._parts.items()}

    def _known_roots(self) -> frozenset[str] | None:
        """The first parts of names that can lead anywhere; `None`: any may, by a star."""
        if self._stars:
            return None
        return _ROOTS_KEPT.union(self._file.imported, (symbol.partition(".")[0] for symbol in self._parts))

    def _define(self, statement: ast.AST, prefix: str) -> bool:
        """Whether the statement is a definition, which is then taken in."""
        if isinstance(statement, _FUNCTIONS):
            self._function(statement, prefix)
        elif isinstance(statement, ast.ClassDef):
            self._class(statement, prefix)
        elif isinstance(statement, ast.stmt) and (names := list(_assigned(statement))):
            self._names(statement, names, prefix)
        else:
            return False
        return True

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, prefix: str) -> None:
        body = Digest()
        body.write_function(node)
        decoration = _decoration(node)
        self._take_imports(body)
        self._put(node, prefix + node.name, Kind.FUNCTION, body, decoration=decoration)

    def _class(self, node: ast.ClassDef, prefix: str) -> None:
        body = Digest()
        body.write_bases(node)
        inner = f"{prefix}{node.name}."
        for statement in _flatten(without_docstring(node.body)):
            if isinstance(statement, _BLOCKS):
                body.write_head(statement)
            elif self._define(statement, inner):
                if not isinstance(statement, (*_FUNCTIONS, ast.ClassDef)) and "__doc__" not in _assigned(statement):
                    body.write(statement)
            else:
                self._import(statement)
                body.write(statement)
        bases = tuple(_bases(node))
        self._put(node, prefix + node.name, Kind.CLASS, body, decoration=_decoration(node), bases=bases)

    def _names(self, statement: ast.stmt, names: Iterable[str], prefix: str) -> None:
        body = Digest()
        body.write(statement)
        for name in names:
            self._put(statement, prefix + name, Kind.NAME, body, own=name)

    def _put(
        self,
        node: ast.stmt,
        symbol: str,
        kind: Kind,
        body: Digest,
        *,
        decoration: Digest | None = None,
        bases: tuple[str, ...] = (),
        own: str = "",
    ) -> None:
        around = decoration or Digest()
        names = (
            tuple(sorted(body.names() - {own})),
            tuple(sorted(around.names())),
            bases,
            tuple(sorted(body.attributes)),
        )
        place = (first_line(node), node.end_lineno or node.lineno)
        found = Definition(symbol, kind, *place, body.result(), around.result(), *names)
        self._parts.setdefault(symbol, []).append(found)

    def _import(self, statement: ast.AST) -> None:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            for local, dotted in imported_here(self._file.path, statement):
                if local == "*":
                    self._stars[dotted] = None
                else:
                    self._file.imported.setdefault(local, dotted)

    def _take_imports(self, body: Digest) -> None:
        """Imports inside functions, as if they were the file's."""
        for statement in body.imports:
            self._import(statement)


def _assigned(statement: ast.AST) -> Iterator[str]:
    """The names that an assignment binds; not those of what it changes, as `torch` of `torch.x = 1`."""
    waiting: list[ast.expr] = []
    if isinstance(statement, ast.Assign):
        waiting = list(statement.targets)
    elif isinstance(statement, (ast.AnnAssign, ast.AugAssign)):
        waiting = [statement.target]
    while waiting:
        target = waiting.pop(0)
        if isinstance(target, ast.Name):
            yield target.id
        elif isinstance(target, (ast.Tuple, ast.List)):
            waiting += target.elts
        elif isinstance(target, ast.Starred):
            waiting.append(target.value)


def _decoration(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Digest:
    decoration = Digest()
    for decorator in node.decorator_list:
        decoration.write(decorator)
    return decoration


def _bases(node: ast.ClassDef) -> Iterator[str]:
    for base in node.bases:
        digest = Digest()
        digest.write(base)
        yield from (name for name in sorted(digest.names()) if name != "object")


def _one(parts: list[Definition], known: frozenset[str] | None) -> Definition:
    """The definitions of one symbol as one, without names that lead nowhere."""
    first = parts[0]

    def kept(names: Iterable[str]) -> tuple[str, ...]:
        return tuple(sorted(name for name in set(names) if known is None or name.partition(".")[0] in known))

    return Definition(
        first.symbol,
        first.kind,
        first.line,
        max(part.end_line for part in parts) if len(parts) > 1 else first.end_line,
        "".join(part.body for part in parts),
        "".join(part.decoration for part in parts),
        kept(name for part in parts for name in part.uses),
        kept(name for part in parts for name in part.marks),
        tuple(dict.fromkeys(name for part in parts for name in part.bases)),
        tuple(sorted({name for part in parts for name in part.attributes})),
    )


def _flatten(statements: Iterable[ast.stmt | ast.ExceptHandler]) -> Iterator[ast.stmt | ast.ExceptHandler]:
    """Statements of a body, each block before those inside it, in the order of the source; without recursion."""
    waiting = list(reversed(list(statements)))
    while waiting:
        statement = waiting.pop()
        yield statement
        if isinstance(statement, _BLOCKS):
            inner = (child for child in ast.iter_child_nodes(statement))
            waiting.extend(reversed([child for child in inner if isinstance(child, (ast.stmt, ast.ExceptHandler))]))
