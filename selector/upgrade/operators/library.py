"""The functions that make the inputs of operators, and all they use: which of the test library entries lead to.

What is compared of a definition is the digest that tests are compared by (`selector.upgrade.comparing.definitions`).
Lists of entries are no definitions here, for a function that looks through one would lead to every operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from selector.trees import SourceTree
from selector.upgrade.comparing.definitions import FileDefinitions, Kind, read_definitions
from selector.upgrade.comparing.names import Names, Symbol
from selector.upgrade.operators.table import Definition, OperatorEntry
from selector.upgrade.types import Place

_LIST_ENDS = ("_db", "_ops", "_refs", "_ufuncs", "_funcs")


class Library:
    """The files of the test library of one tree, each read when something leads there."""

    def __init__(self, tree: SourceTree, paths: Sequence[str]) -> None:
        self._files = _Files(tree, paths)
        self._names = Names(self._files)

    def reached(self, entries: Iterable[OperatorEntry]) -> dict[str, Definition]:
        """The definitions that entries lead to over any distance, by their names, sorted."""
        roots = {
            name
            for entry in entries
            for said in (entry.samples, entry.others)
            for one in said.values()
            for name in one.names
        }
        found: dict[str, Definition] = {}
        waiting = sorted(roots)
        while waiting:
            name = waiting.pop()
            definition = self._definition(name) if name not in found else None
            if definition is not None:
                found[name] = definition
                waiting += definition.uses
        return {name: found[name] for name in sorted(found)}

    def _definition(self, name: str) -> Definition | None:
        symbol = self._symbol(name)
        known = None if symbol is None else self._names.definition(symbol)
        if symbol is None or known is None:
            return None
        uses = sorted({f"{used.path}:{used.name}" for used in self._used(symbol)} - {name})
        digest = f"{known.body} {known.decoration}"
        return Definition(name, digest, Place(symbol.path, known.line, known.end_line), tuple(uses))

    def _symbol(self, name: str) -> Symbol | None:
        """`path:name`, or the dotted name of what was not followed."""
        path, _, inside = name.partition(":")
        if inside:
            return Symbol(path, inside)
        parts = name.split(".")
        for size in range(len(parts) - 1, 0, -1):
            for ending in (".py", "/__init__.py"):
                module = "/".join(parts[:size]) + ending
                if module in self._files:
                    return self._names.lead(module, ".".join(parts[size:]))
        return None

    def _used(self, symbol: Symbol) -> Iterator[Symbol]:
        known = self._names.definition(symbol)
        if known is None:
            return
        for dotted in known.uses:
            led = self._names.lead(symbol.path, dotted)
            if led is not None and not led.name.endswith(_LIST_ENDS):
                yield led
        if known.kind is Kind.CLASS:
            yield from self._names.members(symbol)


class _Files(Mapping[str, FileDefinitions]):
    """The definitions of files by path, taken apart when first asked for."""

    def __init__(self, tree: SourceTree, paths: Sequence[str]) -> None:
        self._tree = tree
        self._read: dict[str, FileDefinitions | None] = dict.fromkeys(paths)

    def __getitem__(self, path: str) -> FileDefinitions:
        known = self._read[path]
        if known is None:
            known = self._read[path] = read_definitions(path, self._tree.read(path))
        return known

    def __iter__(self) -> Iterator[str]:
        return iter(self._read)

    def __len__(self) -> int:
        return len(self._read)

    def __contains__(self, path: object) -> bool:
        return path in self._read
