"""From the outlines of all test files to the catalog: which class runs which test methods.

Owns inheritance by name, within a file and between test files, and the reach of a test into the helpers around it. A
base class that no test file defines is taken for a `TestCase` of some kind: an entry too many is filtered when the
tests are collected, an entry too few would be a test that is never offered.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from selector.catalog.bodies import borrowed_text
from selector.catalog.edges import EdgeKind, FileEdge, module_paths, strongest, text_edges
from selector.catalog.entries import CatalogTest, Helper, Origin, TestFile
from selector.catalog.outline import ClassOutline, FileOutline, Method, Outlines
from selector.types import BaseTest

_FIXTURES = frozenset({"setUp", "setUpClass", "tearDown", "tearDownClass", "setup_method", "setUpModule"})
_HELPER_LEVELS = 3
_MAX_BASES = 64


@dataclass(frozen=True, slots=True, eq=False)
class _Located:
    """A class and the file that writes it."""

    file: FileOutline
    cls: ClassOutline


class Assembly:
    """Catalog entries from the outlines of all test files and of the bodies outside them. `paths` are the Python files
    of the test tree, to which edges may lead. What several files need is worked out once."""

    def __init__(self, outlines: Outlines, paths: Collection[str]) -> None:
        self._outlines = outlines
        self._paths = paths
        self._functions: dict[str, dict[str, Helper]] = {}
        self._methods: dict[int, dict[str, Helper]] = {}
        self._located: dict[int, _Located] = {}

    def file(self, path: str) -> TestFile:
        """The catalog entry of one file."""
        outline = self._outlines[path]
        edges = list(text_edges(outline, self._paths))
        entries = sorted(self._entries(outline, edges), key=lambda entry: (entry.test.cls, entry.test.name))
        if not entries or outline.makes_tests:
            entries.insert(0, _rest_of(outline))
        written = {entry.origin.file for entry in entries}
        return TestFile(
            path,
            outline.owners,
            outline.imports,
            outline.uses,
            tuple(entries),
            parsed=outline.parsed,
            edges=strongest(edges),
            borrowed=tuple(part for part in borrowed_text(outline, self._outlines) if part.file not in written),
        )

    def _entries(self, outline: FileOutline, edges: list[FileEdge]) -> Iterator[CatalogTest]:
        """The entries of a file; the edges that its classes make are added to `edges`."""
        own = self._functions_of(outline)
        names = frozenset(own)
        for name, method in outline.functions.items():
            if name.startswith("test"):
                test, origin = BaseTest(outline.path, "", name), Origin(outline.path, name)
                yield _entry(test, method, origin, _reach(method.words, own, names))
        for local, located in self._classes(outline):
            lineage = self._lineage(located)
            if self._is_collected(located, lineage, instantiated=local in outline.instantiated):
                found = list(self._class_entries(outline.path, local, lineage))
                edges += _class_edges(outline.path, local, lineage) if found else ()
                yield from found

    def _classes(self, outline: FileOutline) -> Iterator[tuple[str, _Located]]:
        """Classes of the file and test classes it imports from other test files, which are collected here once more."""
        for name, cls in outline.classes.items():
            yield name, self._locate(outline, cls)
        for local in outline.imported:
            if local not in outline.classes and (found := self._imported_class(outline, local)):
                yield local, found
        for module in outline.starred:
            if other := self._module(outline, module):
                classes = ((name, cls) for name, cls in other.classes.items() if name not in outline.classes)
                yield from ((name, self._locate(other, cls)) for name, cls in classes)

    def _class_entries(self, path: str, local: str, lineage: list[_Located]) -> Iterator[CatalogTest]:
        helpers: dict[str, Helper] = {}
        for ancestor in reversed(lineage):
            helpers.update(self._functions_of(ancestor.file))
            helpers.update(self._methods_of(ancestor))
        names = frozenset(helpers)
        fixtures = [helper for name, helper in helpers.items() if name in _FIXTURES]
        seen: set[str] = set()
        for ancestor in lineage:
            for name, method in ancestor.cls.methods.items():
                if name.startswith("test") and name not in seen:
                    seen.add(name)
                    origin = Origin(ancestor.file.path, f"{ancestor.cls.name}.{name}")
                    yield _entry(
                        BaseTest(path, local, name), method, origin, _reach(method.words, helpers, names, fixtures)
                    )

    def _functions_of(self, outline: FileOutline) -> dict[str, Helper]:
        """What a test of the file may call by bare name: module functions, and classes that are no test classes."""
        known = self._functions.get(outline.path)
        if known is None:
            known = self._functions[outline.path] = _functions(outline)
        return known

    def _methods_of(self, located: _Located) -> dict[str, Helper]:
        known = self._methods.get(id(located.cls))
        if known is None:
            known = self._methods[id(located.cls)] = _methods(located)
        return known

    def _locate(self, outline: FileOutline, cls: ClassOutline) -> _Located:
        return self._located.setdefault(id(cls), _Located(outline, cls))

    def _lineage(self, located: _Located) -> list[_Located]:
        """The class and its known ancestors, nearest first; a cycle of names ends at its first repetition."""
        lineage: list[_Located] = []
        waiting = [located]
        while waiting and len(lineage) < _MAX_BASES:
            current = waiting.pop(0)
            if current not in lineage:
                lineage.append(current)
                waiting.extend(base for base in self._bases(current) if base is not None)
        return lineage

    def _bases(self, located: _Located) -> list[_Located | None]:
        """The bases of a class, `None` for one that no test file defines."""
        return [self._resolve(located.file, base) for base in located.cls.bases if base != "object"]

    def _resolve(self, outline: FileOutline, name: str) -> _Located | None:
        around, _, last = name.rpartition(".")
        if around and (found := self._resolve_in(outline, around, last)):
            return found
        if last in outline.classes:
            return self._locate(outline, outline.classes[last])
        return self._imported_class(outline, last)

    def _resolve_in(self, outline: FileOutline, around: str, last: str) -> _Located | None:
        """`Outer.Inner` or `module.Class`."""
        outer = self._resolve(outline, around)
        if outer is not None:
            inner = outer.file.nested.get(f"{outer.cls.name}.{last}")
            return self._locate(outer.file, inner) if inner is not None else None
        module = ".".join(outline.imported.get(around, (around,)))
        other = self._module(outline, module)
        return self._locate(other, other.classes[last]) if other is not None and last in other.classes else None

    def _imported_class(self, outline: FileOutline, local: str) -> _Located | None:
        module, name = outline.imported.get(local, ("", ""))
        other = self._module(outline, module) if module else None
        return self._locate(other, other.classes[name]) if other is not None and name in other.classes else None

    def _module(self, outline: FileOutline, module: str) -> FileOutline | None:
        """The outline of a module that a file imports, if it is a test file or holds bodies."""
        folder = posixpath.dirname(outline.path)
        found = (self._outlines.get(path) for path in module_paths(folder, module))
        return next((other for other in found if other is not None and other is not outline), None)

    def _is_collected(self, located: _Located, lineage: list[_Located], *, instantiated: bool) -> bool:
        """Whether a test runner takes the class: by its name, by a base that is or may be a `TestCase`, or because it
        is handed to one of the `instantiate_..._tests` functions. A mixin without any of these runs in its
        subclasses."""
        if instantiated or located.cls.name.startswith("Test"):
            return True
        return any(
            None in self._bases(ancestor) or ancestor.cls.name.endswith(("TestCase", "TestBase"))
            for ancestor in lineage
        )


def _entry(test: BaseTest, method: Method, origin: Origin, helpers: tuple[Helper, ...]) -> CatalogTest:
    return CatalogTest(test, method.words, method.decoration.names, origin, helpers, method.decoration.marks)


def _rest_of(outline: FileOutline) -> CatalogTest:
    """The entry for tests of a file that no other entry describes: all of them when the file does not parse."""
    test = BaseTest(outline.path, "", "")
    return CatalogTest(test, outline.words, frozenset(), Origin(outline.path, ""))


def _class_edges(path: str, local: str, lineage: list[_Located]) -> Iterator[FileEdge]:
    """A class of another file is collected here once more; a class of this file inherits from others."""
    first = lineage[0]
    if first.file.path != path:
        yield FileEdge(EdgeKind.RERUN, first.file.path, f"{local} is collected here too")
    for ancestor in lineage:
        if ancestor.file.path != path and ancestor is not first:
            yield FileEdge(EdgeKind.SUBCLASS, ancestor.file.path, f"{local} inherits from {ancestor.cls.name}")


def _functions(outline: FileOutline) -> dict[str, Helper]:
    found = {
        name: Helper(outline.path, name, function.words)
        for name, function in outline.functions.items()
        if not name.startswith("test")
    }
    around = {name.partition(".")[0] for name in outline.nested}
    for cls in outline.classes.values():
        holds_tests = cls.name in around or any(name.startswith("test") for name in cls.methods)
        if not cls.name.startswith("test") and not holds_tests:
            found[cls.name] = Helper(outline.path, cls.name, cls.words)
    return found


def _methods(located: _Located) -> dict[str, Helper]:
    return {
        name: Helper(located.file.path, f"{located.cls.name}.{name}", method.words)
        for name, method in located.cls.methods.items()
        if not name.startswith("test")
    }


def _reach(
    words: frozenset[str], helpers: dict[str, Helper], names: frozenset[str], fixtures: Sequence[Helper] = ()
) -> tuple[Helper, ...]:
    """The helpers a text calls, and those they call, a few levels deep; fixtures always run. `names` are the keys of
    `helpers`, as a set."""
    found = dict.fromkeys(fixtures)
    frontier = [words, *(helper.words for helper in found)]
    for _ in range(_HELPER_LEVELS):
        said = frozenset().union(*(names & text for text in frontier))
        fresh = [helper for name in sorted(said) if (helper := helpers[name]) not in found]
        if not fresh:
            break
        found.update(dict.fromkeys(fresh))
        frontier = [helper.words for helper in fresh]
    return tuple(found)
