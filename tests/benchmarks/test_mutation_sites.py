"""Mutations are small, in one function, and sound; the rest of the file stays byte for byte."""

from __future__ import annotations

import ast

import pytest

from tests.benchmarks.mutation_sites import Kind, Site, function_names, is_sound, sites

SOURCE = '''"""Module."""

LIMIT = 3


class Grid:
    """Holds cells."""

    @property
    def empty(self):
        """Whether 7 cells are missing."""
        if self.cells == 0 and not self.ghost:
            return True
        self.seen = 1
        note(self, "grün")
        return self.cells - 2

    def spread(self, by):
        total = {"a": 1}
        total["a"] += by
        def inner(x):
            return by is not x
        return f"{total['a'] + 5} {clip(by, 4)}"
'''.encode()


def found(kind: Kind, function: str) -> list[tuple[str, str]]:
    """What the mutations of a kind replace, and by what."""
    return [
        (SOURCE[site.start : site.end].decode(), site.after)
        for site in sites("torch/grid.py", SOURCE)
        if site.kind is kind and site.function == function
    ]


@pytest.mark.parametrize(
    ("kind", "function", "edits"),
    [
        (
            Kind.CONDITION,
            "Grid.empty",
            [("self.cells == 0 and not self.ghost", "(not (self.cells == 0 and not self.ghost))")],
        ),
        (Kind.STATEMENT, "Grid.empty", [("self.seen = 1", "pass"), ('note(self, "grün")', "pass")]),
        (Kind.STATEMENT, "Grid.spread", [('total["a"] += by', "pass")]),
        (Kind.RETURN, "Grid.empty", [("True", "None"), ("self.cells - 2", "None")]),
        (Kind.OPERATOR, "Grid.empty", [(" == ", " != "), (" and ", " or "), (" - ", " + ")]),
        (Kind.OPERATOR, "Grid.spread.inner", [(" is not ", " is ")]),
        (Kind.CONSTANT, "Grid.empty", [("0", "1"), ("True", "False"), ("1", "2"), ("2", "3")]),
        (Kind.CONSTANT, "Grid.spread", [("1", "2")]),
        (Kind.ARGUMENTS, "Grid.empty", [('self, "grün"', '"grün", self')]),
        (Kind.ARGUMENTS, "Grid.spread", []),
        (Kind.DECORATOR, "Grid.empty", [("    @property\n", "")]),
    ],
)
def test_each_kind_edits_what_its_name_says(kind: Kind, function: str, edits: list[tuple[str, str]]) -> None:
    """Docstrings, inner functions and texts with fields in them are left alone."""
    assert found(kind, function) == edits


def test_every_mutation_of_a_plain_module_is_sound() -> None:
    every = sites("torch/grid.py", SOURCE)
    assert every
    for site in every:
        assert is_sound(site, SOURCE), site
        ast.parse(site.mutated(SOURCE))


def test_what_is_no_python_or_no_change_is_not_sound() -> None:
    same = Site("a.py", "f", 1, Kind.CONSTANT, SOURCE.index(b"3"), SOURCE.index(b"3") + 1, "3")
    broken = Site("a.py", "f", 1, Kind.CONSTANT, SOURCE.index(b"3"), SOURCE.index(b"3") + 1, "(")
    outside = Site("a.py", "f", 1, Kind.CONSTANT, SOURCE.index(b"LIMIT"), SOURCE.index(b"LIMIT") + 5, "return")
    assert not any(is_sound(site, SOURCE) for site in (same, broken, outside))


def test_the_diff_is_one_hunk_of_the_file() -> None:
    site = next(site for site in sites("torch/grid.py", SOURCE) if site.kind is Kind.DECORATOR)
    diff = site.diff(SOURCE)
    assert diff.startswith("diff --git a/torch/grid.py b/torch/grid.py\n--- a/torch/grid.py\n+++ b/torch/grid.py\n@@ ")
    assert [line for line in diff.splitlines()[3:] if line[0] in "+-"] == ["-    @property"]


def test_functions_are_named_by_what_they_stand_in() -> None:
    assert function_names(SOURCE) == ["Grid.empty", "Grid.spread", "Grid.spread.inner"]
