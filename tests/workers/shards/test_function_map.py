"""A worker's function map is used where it can be, and its absence never costs a selection."""

from __future__ import annotations

from pathlib import Path

import pytest

from selector.executed import FunctionMap, write_map
from workers.shards.function_map import usable_map

MAP = FunctionMap("", {"torch/a.py": ["f"]}, {"test/test_a.py": {"test/test_a.py::T::test_f": ["torch/a.py:f"]}})


def test_a_newer_map_is_used_at_once(tmp_path: Path) -> None:
    path = tmp_path / "map"
    write_map(path, MAP)
    assert [list(usable.recorded_files()) for usable in [usable_map(path)] if usable] == [["test/test_a.py"]]
    write_map(path, MAP.updated(FunctionMap("", MAP.defined, {"test/test_b.py": {}})))
    assert [sorted(usable.recorded_files()) for usable in [usable_map(path)] if usable] == [
        ["test/test_a.py", "test/test_b.py"]
    ]


@pytest.mark.parametrize("content", [None, b"", b"function map 1\n", b"function map 1\n" + b"x" * 99, b"\0" * 9])
def test_one_that_cannot_be_used_is_none(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "map"
    if content is not None:
        path.write_bytes(content)
    assert usable_map(path) is None
    assert usable_map(None) is None
