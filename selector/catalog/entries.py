"""The static index of upstream's tests: what stages 2 and 3 know about each test without running anything.

Frozen values only. An entry describes what is written, not what will be collected: the device-type framework makes many
collected tests out of one entry, and tests created at import time share one entry per file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from selector.types import BaseTest


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
    """One base test. `words` are the identifiers of its own text with decorators, strings included; `helpers` are what
    it reaches inside its own file and base classes. The entry without class and name stands for the tests of a file
    that no other entry describes: made at import time, or all of them when the file does not parse."""

    test: BaseTest
    words: frozenset[str]
    decorators: frozenset[str]
    origin: Origin
    helpers: tuple[Helper, ...] = ()


@dataclass(frozen=True, slots=True)
class TestFile:
    """One upstream test file. `owners` are the labels of its `# Owner(s):` line; `imports` are the modules it imports
    and the names it imports from them, dotted; `uses` are dotted `torch...` names in its text with their prefixes."""

    path: str
    owners: tuple[str, ...]
    imports: frozenset[str]
    uses: frozenset[str]
    tests: tuple[CatalogTest, ...]
    parsed: bool = True


@dataclass(frozen=True)
class Catalog:
    """All test files by path, sorted. `operators` are the names of upstream's operator database, `None` when the tree
    has none."""

    files: Mapping[str, TestFile]
    operators: frozenset[str] | None = None

    def __iter__(self) -> Iterator[CatalogTest]:
        return (test for file in self.files.values() for test in file.tests)

    @cached_property
    def size(self) -> int:
        """How many base tests there are."""
        return sum(len(file.tests) for file in self.files.values())
