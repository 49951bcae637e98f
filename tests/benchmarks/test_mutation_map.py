"""The map answers for the function, or for the one that it is defined in."""

from __future__ import annotations

from selector.known import FunctionId
from tests.benchmarks.mutation_map import RecordedMap


def test_an_inner_function_is_part_of_the_outer_one() -> None:
    known = RecordedMap({"a.py:Grid.spread": ["test/t.py::test"], "a.py:Grid": ["test/t.py"]}, ["test/t.py"])
    inner, outer, other = (FunctionId("a.py", name) for name in ("Grid.spread.inner", "Grid.spread", "plain"))
    assert known.executing([inner, outer, other]) == {inner: ["test/t.py::test"], outer: ["test/t.py::test"], other: ()}
    assert known.recorded_files() == ["test/t.py"]
