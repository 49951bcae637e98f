"""A recall is the share of the failing tests that a selection has; the means are over the mutants that break any."""

from __future__ import annotations

import pytest

from tests.benchmarks.mutation_figures import Figure, Labels, first_files, summary

TESTS = {
    "test/a.py::TCPU::test_x_cpu": "test/a.py::T::test_x",
    "test/a.py::TCPU::test_x_meta": "test/a.py::T::test_x",
    "test/a.py::TCPU::test_y": "test/a.py::T::test_y",
    "test/b.py::test_z": "test/b.py::test_z",
}
LABELS = Labels(TESTS, frozenset({"test/a.py::TCPU::test_x_meta", "test/b.py::test_z"}))


@pytest.mark.parametrize(
    ("selection", "figure"),
    [
        ((), Figure(0.0, 0.0, hit=False)),
        (("test/a.py::T::test_y",), Figure(0.0, 0.25, hit=False)),
        (("test/a.py::T::test_x",), Figure(0.5, 0.5, hit=True)),
        (("test/b.py", "test/a.py::T::test_x"), Figure(1.0, 0.75, hit=True)),
        (("test/a.py", "test/b.py", "test/c.py"), Figure(1.0, 1.0, hit=True)),
    ],
)
def test_base_tests_and_whole_files_select(selection: tuple[str, ...], figure: Figure) -> None:
    assert LABELS.figure(selection) == figure
    assert LABELS.broken_files == {"test/a.py", "test/b.py"}


def test_a_mutant_that_breaks_nothing_has_no_recall_and_a_cost() -> None:
    assert Labels(TESTS, frozenset()).figure(["test/b.py"]) == Figure(None, 0.25, hit=False)


def test_a_share_of_the_files_is_at_least_one() -> None:
    assert first_files(["a", "b", "c", "d"], 0.01) == {"a"}
    assert first_files([f"{number:02}" for number in range(82)], 0.25) == {f"{number:02}" for number in range(20)}


def test_means_are_over_what_breaks_and_the_cost_over_all_too() -> None:
    figures = [Figure(1.0, 0.1, hit=True), Figure(0.5, 0.3, hit=True), Figure(None, 0.8, hit=False)]
    means = summary(figures)
    assert (means.recall, means.worst, means.hits) == (0.75, 0.5, 1.0)
    assert means.selected == pytest.approx(0.2)
    assert means.selected_of_all == pytest.approx(0.4)
    assert summary([figures[2]]).recall == 0.0
