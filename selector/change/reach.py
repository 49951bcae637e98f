"""From changed symbols to the names by which tests call them.

A change of `_unravel_index` matters to tests that say `unravel_index`. So each changed symbol is followed to its
callers inside the module: one level, and a second one past callers that are private themselves. Callers in other
modules are stage 2's business (imports, owners). Names re-exported under another name by a package's `__init__.py` are
added last.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from selector.change.facts import Reached
from selector.change.symbols import bound_names, is_private
from selector.source import last_part, parse_module
from selector.trees import SourceTree

_LEVELS = 2
_MAX_REACHED = 200


@dataclass(frozen=True, slots=True)
class _Use:
    """A definition, or a module-level assignment, and the names it uses."""

    symbol: str
    names: frozenset[str]


class Exports:
    """The renaming imports of a tree's packages (`from .impl import x as y`), each read once."""

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._renames: dict[str, Mapping[str, Sequence[str]]] = {}

    def renamed(self, path: str, name: str) -> Iterator[tuple[str, str]]:
        """Pairs of public name and the `__init__.py` that gives it, for a name defined in `path`."""
        for folder in PurePosixPath(path).parents:
            if folder != PurePosixPath():
                init = f"{folder}/__init__.py"
                yield from ((alias, init) for alias in self._read(init).get(name, ()))

    def _read(self, init: str) -> Mapping[str, Sequence[str]]:
        if init not in self._renames:
            self._renames[init] = _renames(self._tree.read(init) or "")
        return self._renames[init]


def reached_names(path: str, text: str, symbols: Sequence[str], exports: Exports) -> tuple[Reached, ...]:
    """Names that lead to `symbols`, nearest first: own names, callers in `text`, exported names."""
    module = parse_module(text)
    statements = module.body if module is not None else []
    uses = [use for statement in statements for use in _uses_of(statement, "")]
    classes = frozenset(statement.name for statement in statements if isinstance(statement, ast.ClassDef))
    users: dict[str, list[_Use]] = {}
    for use in uses:
        for name in use.names:
            users.setdefault(name, []).append(use)
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

    def __init__(self, module: ast.Module, ends: Container[str] = ()) -> None:
        self._users: dict[str, set[str]] = {}
        for use in (use for statement in module.body for use in _uses_of(statement, "")):
            for name in use.names if use.symbol not in ends else ():
                self._users.setdefault(name, set()).add(last_part(use.symbol))

    def callers(self, names: Iterable[str]) -> frozenset[str]:
        """`names` and everything that uses them at any distance."""
        found = set(names)
        frontier = list(found)
        while frontier:
            new = self._users.get(frontier.pop(), set()) - found
            found |= new
            frontier += new
        return frozenset(found)


def _chains(symbol: str, users: Mapping[str, Sequence[_Use]]) -> Iterator[tuple[str, ...]]:
    """Chains from the changed symbol to its callers, the symbol alone first."""
    yield (symbol,)
    seen = {symbol}
    frontier: list[tuple[str, ...]] = [(symbol,)]
    for _ in range(_LEVELS):
        following: list[tuple[str, ...]] = []
        for chain in frontier:
            for use in users.get(last_part(chain[-1]), ()):
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


def _uses_of(statement: ast.stmt, prefix: str) -> Iterator[_Use]:
    if isinstance(statement, (ast.If, ast.Try, ast.With)):
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.stmt):
                yield from _uses_of(child, prefix)
    elif isinstance(statement, ast.ClassDef):
        header = [*statement.bases, *statement.decorator_list]
        yield _Use(prefix + statement.name, frozenset(name for node in header for name in _names(node)))
        for child in statement.body:
            yield from _uses_of(child, f"{prefix}{statement.name}.")
    elif isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef)):
        yield _Use(prefix + statement.name, frozenset(_names(statement)))
    else:
        yield from (_Use(prefix + name, frozenset(_names(statement))) for name in bound_names(statement))


def _names(node: ast.AST) -> Iterator[str]:
    for child in ast.walk(node):
        if isinstance(child, ast.Name):
            yield child.id
        elif isinstance(child, ast.Attribute):
            yield child.attr


def _renames(text: str) -> Mapping[str, Sequence[str]]:
    module = parse_module(text)
    found: dict[str, list[str]] = {}
    for statement in module.body if module is not None else ():
        if isinstance(statement, ast.ImportFrom):
            for alias in statement.names:
                if alias.asname not in (None, alias.name):
                    found.setdefault(alias.name, []).append(str(alias.asname))
    return found
