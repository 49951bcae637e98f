"""The table says of each mutant what it breaks and who finds it; the means leave out what cannot be judged."""

from __future__ import annotations

from tests.benchmarks.mutation_figures import Labels
from tests.benchmarks.mutation_plan import Mutant
from tests.benchmarks.mutation_rankings import COLD, MAPPED, Chosen
from tests.benchmarks.mutation_sites import Kind, Site
from tests.benchmarks.mutation_table import CLOSURE, MAP, Row, figures, missed, table

TESTS = {f"test/{file}.py::test_{number}": f"test/{file}.py::test_{number}" for file in "abcd" for number in (1, 2)}
FIRST = ["test/a.py::test_1", "test/b.py"]


def row(function: str, failing: frozenset[str] | None) -> Row:
    """A mutant of a function for which the cold order starts with `d`, the map's with `a`."""
    site = Site("torch/fx/graph.py", function, 3, Kind.CONDITION, 0, 1, "x")
    orders = {COLD: [f"test/{file}.py" for file in "dcba"], MAPPED: [f"test/{file}.py" for file in "abcd"]}
    labels = None if failing is None else Labels(TESTS, failing)
    return Row(Mutant("fx", site, executed=True), labels, Chosen(orders, FIRST, "selected", [f"graph: {function}"]))


BREAKING = row("breaking", frozenset({"test/a.py::test_1", "test/a.py::test_2", "test/d.py::test_1"}))
HARMLESS = row("harmless", frozenset())
BROKEN = row("broken", None)


def test_each_column_is_a_selection() -> None:
    columns = BREAKING.columns
    assert columns[MAP].recall == 1 / 3
    assert columns[CLOSURE].recall == 2 / 3
    assert columns[CLOSURE].selected == 4 / 8
    assert (columns["cold 25%"].recall, columns["mapped 25%"].recall) == (1 / 3, 2 / 3)
    assert not BROKEN.columns


def test_the_table_has_a_line_for_each_mutant_that_ran() -> None:
    lines = table([HARMLESS, BREAKING, BROKEN]).splitlines()
    assert lines[1].split()[:4] == ["fx/graph.py:", "breaking,", "inverted", "condition"]
    assert lines[1].split()[4] == "3/2"
    assert lines[2].split()[4] == "0/0"
    assert lines[3].startswith("mean recall")
    assert "0.333" in lines[3]
    assert "2 mutants over 1 areas, 1 of them break a test" in lines
    assert lines[-1].endswith("torch cannot be imported with them: 1")
    assert table([BROKEN]) == "no mutant has been run"


def test_what_the_second_tier_misses_is_named() -> None:
    assert missed([HARMLESS, BREAKING, BROKEN]) == [
        "missed by the closure: fx/graph.py: breaking, inverted condition: 1 tests, such as test/d.py::test_1"
    ]


def test_figures_are_plain_values() -> None:
    ran, broken = figures([BREAKING, BROKEN])
    assert (ran["importable"], broken["importable"]) == (True, False)
    assert ran["failing"] == sorted(BREAKING.labels.failing if BREAKING.labels else ())
    assert broken["columns"] == {}
