"""The tests of one tree with the definitions they are written in: the catalog says which there are, the files how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selector.catalog import Catalog, Origin
from selector.trees import SourceTree
from selector.types import BaseTest
from selector.upgrade.definitions import Definition, FileDefinitions
from selector.upgrade.types import Place


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """A base test and where it is written: in its class, or in one that its class inherits from."""

    test: BaseTest
    origin: Origin
    definition: Definition | None

    @property
    def place(self) -> Place:
        """The lines it is written in; the file where no definition says."""
        if self.definition is None:
            return Place(self.origin.file)
        return Place(self.origin.file, self.definition.line, self.definition.end_line)


@dataclass(frozen=True, eq=False)
class Release:
    """One of the two trees, read: its files taken apart and its tests."""

    tree: SourceTree
    files: Mapping[str, FileDefinitions]
    tests: Mapping[BaseTest, WrittenTest]


def read_release(tree: SourceTree, catalog: Catalog, files: Mapping[str, FileDefinitions]) -> Release:
    """The tests that the catalog lists, with their definitions among `files`."""
    tests = {}
    for entry in catalog:
        file = files.get(entry.origin.file)
        definition = None if file is None else file.definitions.get(entry.origin.symbol)
        tests[entry.test] = WrittenTest(entry.test, entry.origin, definition)
    return Release(tree, files, tests)
