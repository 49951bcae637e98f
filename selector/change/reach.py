"""From changed symbols to the names by which tests call them.

A change of `_unravel_index` matters to tests that say `unravel_index`. So each changed symbol is followed to its
callers inside the module: one level, and a second one past callers that are private themselves. Callers in other
modules are stage 2's business (imports, owners). Names re-exported under another name by a package's `__init__.py` are
added last.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import PurePosixPath

from selector.change.facts import Reached
from selector.change.python_text import PythonText, PythonTexts
from selector.change.shared_source import first_line
from selector.change.symbols import bound_names, is_private
from selector.source import last_part

_LEVELS = 2
_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_MAX_REACHED = 200


class _Use:
    """A definition, or a module-level assignment, and the names it uses. Most are never asked for, so they are first
    looked for as words of the source."""

    def __init__(self, symbol: str, nodes: Sequence[ast.AST], source: str | None) -> None:
        self.symbol = symbol
        self._nodes = nodes
        self._source = source

    @cached_property
    def names(self) -> frozenset[str]:
        return frozenset(name for node in self._nodes for name in _names(node))

    def words(self) -> Collection[str]:
        """The names and maybe more. Python reads other letters than ASCII as the ASCII letters they look like."""
        if self._source is None or not self._source.isascii():
            return self.names
        return set(_WORD.findall(self._source))


class Users:
    """Who uses which name inside one module, in the order of the module."""

    def __init__(self, text: PythonText) -> None:
        self._by_word: dict[str, list[_Use]] = {}
        for statement in text.module.body if text.module is not None else ():
            for use in _uses_of(statement, "", text.lines):
                for word in use.words():
                    self._by_word.setdefault(word, []).append(use)

    def of(self, name: str) -> Iterator[_Use]:
        return (use for use in self._by_word.get(name, ()) if name in use.names)


class Exports:
    """The renaming imports of a tree's packages (`from .impl import x as y`), each read once."""

    def __init__(self, head: PythonTexts) -> None:
        self._head = head
        self._renames: dict[str, Mapping[str, Sequence[str]]] = {}

    def renamed(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        """Pairs of public name and the `__init__.py` that gives it, for a name defined in `path`."""
        for folder in PurePosixPath(path).parents:
            if folder != PurePosixPath():
                init = f"{folder}/__init__.py"
                yield from ((alias, init) for alias in self._read(init).get(name, ()))

    def _read(self, init: str) -> Mapping[str, Sequence[str]]:
        if init not in self._renames:
            text = self._head.read(init)
            self._renames[init] = _renames(text.module if text is not None else None)
        return self._renames[init]


def reached_names(path: str, text: PythonText, symbols: Sequence[str], exports: Exports) -> tuple[Reached, ...]:
    """Names that lead to `symbols`, nearest first: own names, callers in `text`, exported names."""
    statements = text.module.body if text.module is not None else []
    classes = frozenset(statement.name for statement in statements if isinstance(statement, ast.ClassDef))
    users = Users(text)
    chains = [chain for symbol in symbols for chain in _chains(symbol, users)]
    reached: dict[str, str] = {}
    for chain in sorted(chains, key=len):
        for name in _spoken(chain[-1], classes):
            reached.setdefault(name, " <- ".join(chain))
    for name, through in list(reached.items()):
        for alias, init in exports.renamed(path, name):
            reached.setdefault(alias, f"{through} <- {alias} in {init}")
    return tuple(Reached(name, through) for name, through in list(reached.items())[:_MAX_REACHED])


class CallGraph:
    """Who uses whom inside one module, by names alone. `ends` are users that nothing is followed through."""

    def __init__(self, text: PythonText, ends: Container[str] = ()) -> None:
        self._users = Users(text)
        self._ends = ends

    def callers(self, names: Iterable[str]) -> frozenset[str]:
        """`names` and everything that uses them at any distance."""
        found = set(names)
        frontier = list(found)
        while frontier:
            users = self._users.of(frontier.pop())
            new = {last_part(use.symbol) for use in users if use.symbol not in self._ends} - found
            found |= new
            frontier += new
        return frozenset(found)


def _chains(symbol: str, users: Users) -> Iterator[tuple[str, ...]]:
    """Chains from the changed symbol to its callers, the symbol alone first."""
    yield (symbol,)
    seen = {symbol}
    frontier: list[tuple[str, ...]] = [(symbol,)]
    for _ in range(_LEVELS):
        following: list[tuple[str, ...]] = []
        for chain in frontier:
            for use in users.of(last_part(chain[-1])):
                if use.symbol not in seen:
                    seen.add(use.symbol)
                    following.append((*chain, use.symbol))
        yield from following
        frontier = [chain for chain in following if is_private(chain[-1])]


def _spoken(symbol: str, classes: frozenset[str]) -> tuple[str, ...]:
    """How a test would say a symbol: the function around a closure; for a method its class, and its name unless it is
    a dunder."""
    owner, _, rest = symbol.partition(".")
    method = rest.partition(".")[0]
    return (owner,) if owner not in classes or not method or method.startswith("__") else (owner, method)


def _uses_of(statement: ast.stmt, prefix: str, lines: Sequence[str]) -> Iterator[_Use]:
    if isinstance(statement, (ast.If, ast.Try, ast.With)):
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                yield from _uses_of(child, prefix, lines)
    elif isinstance(statement, ast.ClassDef):
        yield _Use(prefix + statement.name, [*statement.bases, *statement.decorator_list], None)
        for child in statement.body:
            yield from _uses_of(child, f"{prefix}{statement.name}.", lines)
    else:
        names = bound_names(statement)
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names = (statement.name,)
        source = "\n".join(lines[first_line(statement) - 1 : statement.end_lineno]) if names else ""
        yield from (_Use(prefix + name, [statement], source) for name in names)


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def _renames(module: ast.Module | None) -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = {}
    for statement in module.body if module is not None else ():
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if alias.asname not in (None, alias.name):
                    found.setdefault(alias.name, []).append(str(alias.asname))
    return found
