"""Files are read once: by this process, by others where there are many, or by an earlier comparison."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Mapping
from concurrent.futures import CancelledError

import pytest

from selector.upgrade.comparing.definitions import read_definitions
from selector.upgrade.comparing.following import FollowedTree
from selector.upgrade.comparing.reading import DefinitionReader
from tests.selector.upstream import MemoryTree

FILES = {f"test/test_{number}.py": f"def test_{number}():\n    pass\n" for number in range(5)}


class Shelf:
    """A cache in memory that counts what it is given."""

    def __init__(self) -> None:
        self.records: dict[str, bytes] = {}
        self.given: list[int] = []

    def load(self, parser: str, wanted: Collection[str]) -> Mapping[str, bytes]:
        return {key: self.records[key] for key in wanted if key in self.records}

    def keep(self, parser: str, used: Iterable[str], fresh: Mapping[str, bytes]) -> None:
        self.given.append(len(fresh))
        self.records.update(fresh)


def read(reader: DefinitionReader, *trees: Mapping[str, str]) -> list[set[str]]:
    """The names that are defined in all files of each tree."""
    followed = [FollowedTree(MemoryTree(files)) for files in trees]
    with reader:
        reader.start(followed, [tree.paths() for tree in followed])
        return [{name for file in files.values() for name in file.definitions} for files in reader.finish()]


def test_a_file_that_both_trees_have_is_read_once_and_never_again() -> None:
    shelf = Shelf()
    newer = {**FILES, "test/test_0.py": "def test_new():\n    pass\n"}
    names = read(DefinitionReader(shelf), FILES, newer)
    assert names[0] - names[1] == {"test_0"}
    assert names[1] - names[0] == {"test_new"}
    assert read(DefinitionReader(shelf), FILES, newer) == names
    assert shelf.given == [6]


def test_who_is_interrupted_waits_for_nothing_that_was_not_begun() -> None:
    """Two processes have a handful of texts in hand; what waits behind them would take half a minute."""
    large = {f"test/test_{number}.py": f"# {number:0100}\n" * 25_000 for number in range(12)}
    tree = FollowedTree(MemoryTree(large))
    reader = DefinitionReader(None, many=1)
    with contextlib.suppress(KeyboardInterrupt), reader:
        reader.start([tree], [tree.paths()])
        raise KeyboardInterrupt
    with pytest.raises(CancelledError):
        reader.finish()


def test_other_processes_read_the_same() -> None:
    assert read(DefinitionReader(None, many=1), FILES) == read(DefinitionReader(None), FILES)


def test_a_damaged_record_is_read_anew() -> None:
    shelf = Shelf()
    names = read(DefinitionReader(shelf), FILES)
    shelf.records = dict.fromkeys(shelf.records, b"damage")
    assert read(DefinitionReader(shelf), FILES) == names


def test_a_file_that_is_no_text_has_no_definitions() -> None:
    assert read_definitions("test/test_a.py", None).definitions == {}
