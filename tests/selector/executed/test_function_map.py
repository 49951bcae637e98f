"""A function map is what was recorded, and comes back from its file unless that is damaged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from selector.executed import FunctionMap, MapError, open_map, read_map, record, write_map
from selector.known import FunctionId
from tests.selector.upstream import MemoryTree

TREE = MemoryTree({"torch/a.py": "class A:\n    def f(self):\n        def g(): pass\ndef never(): pass\n"})
TEST = "test/test_a.py::TestA::test_x"
RECORDING = {"test/test_a.py": {"": ["torch/a.py:A"], TEST: ["torch/a.py:A.f", "torch/a.py:A.f.g", "torch/a.py:lie"]}}
F, NEVER, LIE = (FunctionId("torch/a.py", name) for name in ("A.f", "never", "lie"))


def test_functions_have_their_tests_and_the_collection_is_the_file() -> None:
    known = record(TREE, RECORDING)
    cls = FunctionId("torch/a.py", "A")
    assert known.executing([F, cls, NEVER, LIE]) == {F: [TEST], cls: ["test/test_a.py"], NEVER: []}
    assert set(known.recorded_files()) == {"test/test_a.py"}


def test_a_map_comes_back_from_its_file(tmp_path: Path) -> None:
    known = record(TREE, RECORDING)
    write_map(tmp_path / "map", known)
    again = open_map(tmp_path / "map")
    assert again.executing([F, NEVER]) == known.executing([F, NEVER])
    write_map(tmp_path / "again", again)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "map").read_bytes()


def test_a_newer_recording_takes_the_place_of_its_files_alone() -> None:
    old = record(TREE, {**RECORDING, "test/test_b.py": {"test/test_b.py::test_y": ["torch/a.py:never"]}})
    newer = record(TREE, {"test/test_a.py": {TEST: ["torch/a.py:A"]}})
    known = old.updated(newer)
    assert known.executing([F, NEVER]) == {F: [], NEVER: ["test/test_b.py::test_y"]}


@pytest.mark.parametrize("spoil", [lambda data: data[:-1], lambda data: data + b"x", lambda data: b"x" + data])
def test_a_damaged_file_is_told(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    write_map(tmp_path / "map", FunctionMap("", {}, {}))
    with pytest.raises(MapError, match="record it anew"):
        read_map(spoil((tmp_path / "map").read_bytes()))
