"""The static index of upstream's tests: what stages 2 and 3 know about each test without running anything.

Frozen values only. An entry describes what is written, not what will be collected: the device-type framework makes many
collected tests out of one entry, and tests created at import time share one entry per file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from selector.catalog.edges import FileEdge
from selector.catalog.groups import PathGroup
from selector.catalog.library import Library
from selector.catalog.marks import Mark
from selector.types import BaseTest

#: Decorators that make one test into many from a list of operators, modules or optimizers.
_GENERATORS = frozenset({"ops", "modules", "optims"})
_DTYPE = re.compile(
    r"(?:b?float|q?u?int|complex)\d+(?:_\w+)?|half|float|double|short|int|long|bool|chalf|cfloat|cdouble"
)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a test method is written: an inherited test stands in a base class, perhaps of another file."""

    file: str
    symbol: str


@dataclass(frozen=True, slots=True)
class Helper:
    """A function, method or plain class of a test file that tests call; `words` are its identifiers."""

    file: str
    symbol: str
    words: frozenset[str]


@dataclass(frozen=True, slots=True)
class CatalogTest:
    """One base test. `words` are the identifiers of its own text with decorators, strings included; `decorators` are
    those of its decorators alone, `marks` the decorators one by one; `helpers` are what it reaches inside its own file
    and base classes. The entry without class and name stands for the tests of a file that no other entry describes:
    made at import time, or all of them when the file does not parse."""

    test: BaseTest
    words: frozenset[str]
    decorators: frozenset[str]
    origin: Origin
    helpers: tuple[Helper, ...] = ()
    marks: tuple[Mark, ...] = ()

    @property
    def databases(self) -> tuple[str, ...]:
        """The names in what generates the test: `unary_ufuncs` of `@ops(unary_ufuncs)`, `module_db` of `@modules`."""
        return tuple(name for mark in self.marks if mark.name in _GENERATORS for name in mark.names)

    @property
    def dtypes(self) -> tuple[str, ...]:
        """The dtypes its decorators spell out: `float32` of `@dtypes(torch.float32)` and of `@ops(..., dtypes=...)`."""
        said = (mark.names for mark in self.marks if mark.name in _GENERATORS or mark.name.startswith("dtypes"))
        return tuple(dict.fromkeys(name for names in said for name in names if _DTYPE.fullmatch(name)))

    @property
    def only_on(self) -> tuple[str, ...]:
        """The decorators that keep it to some devices, as written: `onlyCPU`, `onlyNativeDeviceTypes`."""
        return tuple(mark.name for mark in self.marks if mark.name.startswith("only"))


@dataclass(frozen=True, slots=True)
class TestFile:
    """One upstream test file. `owners` are the labels of its `# Owner(s):` line; `imports` are the modules it imports
    and the names it imports from them, dotted; `uses` are dotted `torch...` names in its text with their prefixes;
    `edges` are the other files it leans on; `borrowed` is the text of other files that runs as part of it although it
    inherits no test from them: of files it starts, takes everything from, or generates its tests from."""

    path: str
    owners: tuple[str, ...]
    imports: frozenset[str]
    uses: frozenset[str]
    tests: tuple[CatalogTest, ...]
    parsed: bool = True
    edges: tuple[FileEdge, ...] = ()
    borrowed: tuple[Helper, ...] = ()

    def texts(self) -> Iterator[frozenset[str]]:
        """The words of its tests, of the helpers of each, and of what it borrows."""
        for test in self.tests:
            yield test.words
            yield from (helper.words for helper in test.helpers)
        yield from (helper.words for helper in self.borrowed)


@dataclass(frozen=True)
class Catalog:
    """All test files by path, sorted. `operators` are the names of upstream's operator database, `None` when the tree
    has none; `groups` are the lists in which upstream puts sources and tests together; `library` is what the tests are
    about."""

    files: Mapping[str, TestFile]
    operators: frozenset[str] | None = None
    groups: tuple[PathGroup, ...] = ()
    library: Library = field(default_factory=Library)

    def __iter__(self) -> Iterator[CatalogTest]:
        return (test for file in self.files.values() for test in file.tests)

    def beside(self, more: Sequence[TestFile]) -> Catalog:
        """The same catalog with more entries, none of which stands in it already."""
        return replace(self, files={**self.files, **{file.path: file for file in more}}) if more else self

    @cached_property
    def dependents(self) -> Mapping[str, tuple[tuple[TestFile, FileEdge], ...]]:
        """By the path of a file of the test tree, the test files that lean on it and why; sorted."""
        found: dict[str, list[tuple[TestFile, FileEdge]]] = {}
        for file in self.files.values():
            for edge in file.edges:
                found.setdefault(edge.path, []).append((file, edge))
        return {path: tuple(found[path]) for path in sorted(found)}

    @cached_property
    def says(self) -> Mapping[str, frozenset[str]]:
        """By path, the words of all tests of a file and of their helpers: what no test of it says need not be looked
        for in each."""
        return {path: _said_in(file) for path, file in self.files.items()}

    @cached_property
    def size(self) -> int:
        """How many base tests there are."""
        return sum(len(file.tests) for file in self.files.values())


def _said_in(file: TestFile) -> frozenset[str]:
    helpers = {id(helper): helper for test in file.tests for helper in test.helpers}
    return frozenset().union(*(test.words for test in file.tests), *(helper.words for helper in helpers.values()))
