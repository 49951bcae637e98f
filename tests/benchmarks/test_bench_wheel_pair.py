"""How the functions of two wheels are counted, on small trees, and how the table is made."""

from __future__ import annotations

from tests.benchmarks.bench_wheel_pair import Row, table
from tests.benchmarks.wheel_functions import FunctionCounts, count_functions
from tests.selector.upstream import MemoryTree

OLD = '''class A:
    def f(self): return 1
    def g(self):
        """D."""
        def inner(): return 1
        return inner
'''


def counts(new: str, path: str = "torch/a.py") -> FunctionCounts:
    return count_functions(MemoryTree({"torch/a.py": OLD}), MemoryTree({path: new}))


def test_functions_inside_functions_and_docstrings_are_no_functions_of_their_own() -> None:
    assert counts(OLD.replace("D.", "E.")) == FunctionCounts(2, 0, 0, 0, 0)
    assert counts(OLD.replace("inner(): return 1", "inner(): return 2")) == FunctionCounts(2, 0, 0, 1, 1)


def test_annotations_alone_are_told_apart() -> None:
    assert counts(OLD.replace("f(self)", "f(self) -> int")) == FunctionCounts(2, 0, 0, 1, 0)


def test_each_definition_of_a_name_counts_and_a_moved_file_comes_and_goes() -> None:
    assert counts(OLD + "    def f(self): return 2\n") == FunctionCounts(2, 1, 0, 1, 1)
    assert counts(OLD, "torch/b.py") == FunctionCounts(2, 2, 2, 0, 0)


def test_a_row_shows_the_difference_in_percent_and_its_cause() -> None:
    shown = table([Row("functions", 200, 202, "why")])
    assert shown.splitlines()[-1].split() == ["functions", "200", "202", "+1.00", "%", "why"]
