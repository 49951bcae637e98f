"""From the outlines of all test files to the catalog: which class runs which test methods.

Owns inheritance by name, within a file and between test files, and the reach of a test into the helpers around it. A
base class that no test file defines is taken for a `TestCase` of some kind: an entry too many is filtered when the
tests are collected, an entry too few would be a test that is never offered.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

from selector.catalog.entries import CatalogTest, Helper, Origin, TestFile
from selector.catalog.outline import ClassOutline, FileOutline, Outlines
from selector.types import BaseTest

_FIXTURES = frozenset({"setUp", "setUpClass", "tearDown", "tearDownClass", "setup_method", "setUpModule"})
_HELPER_LEVELS = 3
_MAX_BASES = 64


@dataclass(frozen=True, slots=True)
class _Located:
    """A class and the file that writes it."""

    file: FileOutline
    cls: ClassOutline


def assemble(outline: FileOutline, outlines: Outlines) -> TestFile:
    """The catalog entry of one file; `outlines` are all files, for base classes that stand elsewhere."""
    entries = sorted(_entries(outline, outlines), key=lambda entry: entry.test)
    if not entries or outline.makes_tests:
        entries.insert(0, _rest_of(outline))
    return TestFile(outline.path, outline.owners, outline.imports, outline.uses, tuple(entries), parsed=outline.parsed)


def _rest_of(outline: FileOutline) -> CatalogTest:
    """The entry for tests of a file that no other entry describes: all of them when the file does not parse."""
    test = BaseTest(outline.path, "", "")
    return CatalogTest(test, outline.words, frozenset(), Origin(outline.path, ""))


def _entries(outline: FileOutline, outlines: Outlines) -> Iterator[CatalogTest]:
    own = _functions(outline)
    for name, method in outline.functions.items():
        if name.startswith("test"):
            origin = Origin(outline.path, name)
            helpers = _reach(method.words, own)
            yield CatalogTest(BaseTest(outline.path, "", name), method.words, method.decorators, origin, helpers)
    for local, located in _classes(outline, outlines):
        if _is_collected(located, local in outline.instantiated, outlines):
            yield from _class_entries(outline.path, local, located, outlines)


def _classes(outline: FileOutline, outlines: Outlines) -> Iterator[tuple[str, _Located]]:
    """Classes of the file and test classes it imports from other test files, which are collected here once more."""
    for name, cls in outline.classes.items():
        yield name, _Located(outline, cls)
    for local in outline.imported:
        if local not in outline.classes and (found := _imported_class(outline, local, outlines)):
            yield local, found


def _class_entries(path: str, local: str, located: _Located, outlines: Outlines) -> Iterator[CatalogTest]:
    lineage = _lineage(located, outlines)
    helpers: dict[str, Helper] = {}
    for ancestor in reversed(lineage):
        helpers.update(_functions(ancestor.file))
        helpers.update(_methods(ancestor))
    fixtures = [helper for name, helper in helpers.items() if name in _FIXTURES]
    seen: set[str] = set()
    for ancestor in lineage:
        for name, method in ancestor.cls.methods.items():
            if name.startswith("test") and name not in seen:
                seen.add(name)
                origin = Origin(ancestor.file.path, f"{ancestor.cls.name}.{name}")
                reach = _reach(method.words, helpers, fixtures)
                yield CatalogTest(BaseTest(path, local, name), method.words, method.decorators, origin, reach)


def _functions(outline: FileOutline) -> dict[str, Helper]:
    """What a test of the file may call by bare name: module functions, and classes that are no test classes."""
    found = {name: Helper(outline.path, name, function.words) for name, function in outline.functions.items()}
    plain = (cls for cls in outline.classes.values() if not any(name.startswith("test") for name in cls.methods))
    found.update((cls.name, Helper(outline.path, cls.name, cls.words)) for cls in plain)
    return {name: helper for name, helper in found.items() if not name.startswith("test")}


def _methods(located: _Located) -> dict[str, Helper]:
    return {
        name: Helper(located.file.path, f"{located.cls.name}.{name}", method.words)
        for name, method in located.cls.methods.items()
        if not name.startswith("test")
    }


def _reach(
    words: frozenset[str], helpers: dict[str, Helper], fixtures: list[Helper] | None = None
) -> tuple[Helper, ...]:
    """The helpers a text calls, and those they call, a few levels deep; fixtures always run."""
    found = dict.fromkeys(fixtures or ())
    frontier = [words, *(helper.words for helper in found)]
    for _ in range(_HELPER_LEVELS):
        names = sorted({name for text in frontier for name in helpers.keys() & text})
        fresh = [helpers[name] for name in names if helpers[name] not in found]
        found.update(dict.fromkeys(fresh))
        frontier = [helper.words for helper in fresh]
    return tuple(found)


def _lineage(located: _Located, outlines: Outlines) -> list[_Located]:
    """The class and its known ancestors, nearest first; a cycle of names ends at its first repetition."""
    lineage: list[_Located] = []
    waiting = [located]
    while waiting and len(lineage) < _MAX_BASES:
        current = waiting.pop(0)
        if current not in lineage:
            lineage.append(current)
            waiting.extend(base for base in _bases(current, outlines) if base is not None)
    return lineage


def _bases(located: _Located, outlines: Outlines) -> list[_Located | None]:
    """The bases of a class, `None` for one that no test file defines."""
    return [_resolve(located.file, base, outlines) for base in located.cls.bases if base != "object"]


def _resolve(outline: FileOutline, name: str, outlines: Outlines) -> _Located | None:
    if name in outline.classes:
        return _Located(outline, outline.classes[name])
    return _imported_class(outline, name, outlines)


def _imported_class(outline: FileOutline, local: str, outlines: Outlines) -> _Located | None:
    module, name = outline.imported.get(local, ("", ""))
    for path in module_paths(outline.path, module):
        other = outlines.get(path)
        if other is not None and other is not outline and name in other.classes:
            return _Located(other, other.classes[name])
    return None


def module_paths(importer: str, module: str) -> tuple[str, ...]:
    """Where a module named in a test file may stand: beside it, under `test/`, or from the root of the tree."""
    relative = module.replace(".", "/") + ".py"
    beside = (PurePosixPath(importer).parent / relative).as_posix()
    return tuple(dict.fromkeys((beside, f"test/{relative}", relative)))


def _is_collected(located: _Located, instantiated: bool, outlines: Outlines) -> bool:
    """Whether a test runner takes the class: by its name, by a base that is or may be a `TestCase`, or because it is
    handed to one of the `instantiate_..._tests` functions. A mixin without any of these runs in its subclasses."""
    if instantiated or located.cls.name.startswith("Test"):
        return True
    return any(
        None in _bases(ancestor, outlines) or ancestor.cls.name.endswith(("TestCase", "TestBase"))
        for ancestor in _lineage(located, outlines)
    )
