"""The tests of one tree with the definitions they are written in: the catalog says which there are, the files how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from selector.catalog import Catalog, Origin
from selector.source import last_part
from selector.trees import SourceTree
from selector.types import BaseTest
from selector.upgrade.comparing.definitions import Definition, FileDefinitions
from selector.upgrade.types import Place


@dataclass(frozen=True, slots=True)
class WrittenTest:
    """A base test and where it is written: in its class, or in one that its class inherits from. `text` is the digest
    of what it does; for tests that no definition says, of what its file does beside the tests that it says."""

    test: BaseTest
    origin: Origin
    definition: Definition | None
    text: str

    @property
    def decoration(self) -> str:
        """The digest of its decorators."""
        return "" if self.definition is None else self.definition.decoration

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
    tests = {entry.test: _written(entry.test, entry.origin, files) for entry in catalog}
    return Release(tree, files, tests)


def _written(test: BaseTest, origin: Origin, files: Mapping[str, FileDefinitions]) -> WrittenTest:
    file = files.get(origin.file)
    if file is None:
        return WrittenTest(test, origin, None, "")
    definition = file.definitions.get(origin.symbol)
    text = _beside_tests(file) if definition is None else definition.body
    return WrittenTest(test, origin, definition, text)


def _beside_tests(file: FileDefinitions) -> str:
    """What a file does that makes tests when it is imported."""
    making = (one for one in file.definitions.values() if not last_part(one.symbol).startswith("test"))
    return " ".join((file.loose, *(f"{one.symbol} {one.body} {one.decoration}" for one in making)))
