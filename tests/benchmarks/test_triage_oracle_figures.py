"""Recall, differences and faults of a table, on numbers small enough to count by hand."""

from __future__ import annotations

import pytest

from selector.catalog import build_catalog
from selector.types import BaseTest
from tests.benchmarks.triage_oracle_figures import (
    BUDGETS,
    Figures,
    Judged,
    Plan,
    broken_tests,
    difference,
    faults,
    table,
)
from tests.benchmarks.triage_oracle_figures import recall as recall_of
from tests.selector.upstream import MemoryTree, source_of_class

CATALOG = build_catalog(
    MemoryTree(
        {
            f"test/{name}.py": source_of_class("TestX", "test_add", "test_add_inplace")
            for name in ("test_a", "sub/test_b", "sub/test_c")
        }
    )
)
A = [BaseTest("test/test_a.py", "TestX", name) for name in ("test_add", "test_add_inplace")]


def test_a_file_stands_for_its_tests_and_a_folder_for_its_files() -> None:
    assert broken_tests(["test/test_a.py"], CATALOG) == [frozenset(A)]
    assert [len(tests) for tests in broken_tests(["test/sub/"], CATALOG)] == [2, 2]
    assert broken_tests(["test/gone.py"], CATALOG) == []


@pytest.mark.parametrize(
    ("label", "base"),
    [
        ("TestX::test_add_inplace", A[1]),
        ("TestXCUDA::test_add_inplace_cuda_float32", A[1]),
        ("TestXCPU::test_add_cpu", A[0]),
    ],
)
def test_a_generated_test_stands_for_its_base_test(label: str, base: BaseTest) -> None:
    assert broken_tests([f"test/test_a.py::{label}"], CATALOG) == [frozenset({base})]


def test_a_test_that_the_tree_lacks_stands_for_its_file_and_two_of_one_base_for_one() -> None:
    assert broken_tests(["test/test_a.py::TestX::test_gone"], CATALOG) == [frozenset(A)]
    labels = [f"test/test_a.py::TestXCPU::test_add_cpu_{dtype}" for dtype in ("float32", "int8")]
    assert broken_tests(labels, CATALOG) == [frozenset({A[0]})]


def test_recall_is_the_mean_over_what_broke() -> None:
    broken = [frozenset(A), frozenset({BaseTest("test/sub/test_b.py", "TestX", "test_add")})]
    assert recall_of(broken, {A[0]}) == 0.25
    assert recall_of(broken, {*A, *broken[1]}) == 1.0


def judged(recall: float, lost: int = 0) -> Judged:
    plans = {budget: Plan(recall, 1.0, budget) for budget in BUDGETS}
    return Judged(plans, plans, lost, turns=2, calls=2, tokens=100)


def figures(**recalls: list[float]) -> Figures:
    """Cases by model; a figure of several random models is added once for each."""
    found = Figures()
    for model, values in recalls.items():
        for number, value in enumerate(values):
            found.add(model, f"case {number}", judged(value))
    return found


CASES = ("case 0", "case 1")


def test_differences_are_paired_and_repeated_models_count_with_their_mean() -> None:
    found = figures(off=[0.5, 0.0], oracle=[1.0, 0.5], random=[0.5, 0.0])
    found.add("random", "case 1", judged(0.2))
    assert difference(found, "oracle", CASES, filled=False, budget=0.1) == (0.5, (0.5, 0.5))
    gain, (low, high) = difference(found, "random", CASES, filled=True, budget=0.1)
    assert gain == pytest.approx(0.05)
    assert low == 0.0
    assert high == pytest.approx(0.1)


def test_a_point_of_recall_is_let_pass_and_more_is_a_fault() -> None:
    assert not list(faults(figures(off=[0.5, 0.5], random=[0.5, 0.49], inverted=[0.49, 0.5]), CASES))
    found = list(faults(figures(off=[0.5, 0.5], oracle=[0.0, 0.0], inverted=[0.4, 0.5]), CASES))
    assert len(found) == 2 * len(BUDGETS)
    assert found[0] == "inverted: 0.050 of recall lost at 2% of the seconds"
    assert found[-1] == "inverted: 0.050 of recall lost at 25% of the seconds, filled"


def test_a_lost_test_that_must_run_is_a_fault_whoever_loses_it() -> None:
    found = figures(off=[0.5], oracle=[0.9])
    found.add("oracle", "case 0", judged(0.9, lost=1))
    assert list(faults(found, CASES[:1])) == ["oracle: 1 must-run tests lost"]


def test_the_table_has_a_row_for_each_budget_and_model_and_one_for_what_it_took() -> None:
    lines = list(table(figures(off=[0.5, 0.0], oracle=[1.0, 0.5]), CASES, filled=False))
    assert [line.split()[:3] for line in lines[1:3]] == [["2%", "off", "0.250"], ["2%", "oracle", "0.750"]]
    assert "+0.500 (+0.500..+0.500)" in lines[2]
    assert [line.split()[-2:] for line in lines[1:9:2]] == [["1.000", f"{it:.1%}"] for it in BUDGETS]
    assert lines[-1] == "asking oracle      2.0 turns  2.0 tool calls     100 tokens"
