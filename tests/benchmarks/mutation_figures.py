"""Recalls of mutants: which share of the failing tests a selection has, and which share of all tests it takes.

`Labels` is one mutant's truth: its failing tests among all tests of the chosen files, each with its base test. A
selection is a set of base tests (`file::Class::method`), whole files (`file`) among them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

SHARES = (0.10, 0.25)


@dataclass(frozen=True, slots=True)
class Figure:
    """The recall of one selection (None where nothing fails), the share of the tests that it takes, and whether it has
    a failing test."""

    recall: float | None
    selected: float
    hit: bool


@dataclass(frozen=True, slots=True)
class Labels:
    """`tests` is the base test of every test of the chosen files, `failing` the tests that a mutant breaks."""

    tests: Mapping[str, str]
    failing: frozenset[str]

    @property
    def broken_files(self) -> frozenset[str]:
        return frozenset(file_of(test) for test in self.failing)

    def figure(self, selection: Collection[str]) -> Figure:
        """How a selection does."""
        wanted = frozenset(selection)
        taken = {test for test, base in self.tests.items() if base in wanted or file_of(test) in wanted}
        found = len(taken & self.failing)
        recall = found / len(self.failing) if self.failing else None
        return Figure(recall, len(taken) / len(self.tests) if self.tests else 0.0, found > 0)


def file_of(test: str) -> str:
    return test.partition("::")[0]


def first_files(order: Sequence[str], share: float) -> frozenset[str]:
    """The first `share` of the files of an order, at least one."""
    return frozenset(order[: max(1, round(len(order) * share))])


@dataclass(frozen=True, slots=True)
class Summary:
    """Means over mutants: `recall` and `hits` over those that break something, `selected` over those too, and
    `selected_of_all` over all of them. `worst` is the smallest recall."""

    recall: float
    worst: float
    hits: float
    selected: float
    selected_of_all: float


def summary(figures: Sequence[Figure]) -> Summary:
    """The means of one column; zeros without a mutant that breaks something."""
    recalls = [figure.recall for figure in figures if figure.recall is not None]
    breaking = [figure for figure in figures if figure.recall is not None]
    return Summary(
        recall=_mean(recalls),
        worst=min(recalls, default=0.0),
        hits=_mean([float(figure.hit) for figure in breaking]),
        selected=_mean([figure.selected for figure in breaking]),
        selected_of_all=_mean([figure.selected for figure in figures]),
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
