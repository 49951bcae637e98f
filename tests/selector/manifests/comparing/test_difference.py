"""A change of manifests is told by what it does to tests: grouped, counted, with the place on either side."""

from __future__ import annotations

from typing import Protocol

import pytest

from selector.manifests import Profile, resolve
from selector.manifests.comparing.difference import Difference, Effect, difference
from selector.manifests.resolution import Table
from selector.types import CollectedTest
from tests.selector.manifests.conftest import LoadEntries

FILE = "test/test_things.py"
METHODS = ("test_a_acme_float32", "test_a_acme_int64", "test_b_acme_float32", "test_c_acme")
TESTS = tuple(
    CollectedTest(f"{FILE}::TestThingsACME::{method}", FILE, "TestThings", method[:6], method) for method in METHODS
)


class MakeTable(Protocol):
    """Resolves the tests by a manifest that is given by its entries and what stands below `global`."""

    def __call__(self, entries: str, supported: str = "") -> Table: ...


@pytest.fixture
def table(load_entries: LoadEntries) -> MakeTable:
    def make(entries: str, supported: str = "") -> Table:
        return resolve(load_entries(entries, supported), TESTS, profile=Profile.COMPAT, device="acme")

    return make


def summary(found: Difference) -> list[tuple[str, str, str, list[str]]]:
    """Effect, both sides, and the methods of each change."""
    return [
        (
            change.effect,
            f"{change.before.mode} {change.before.rule} {change.before.provenance}",
            f"{change.after.mode} {change.after.rule} {change.after.provenance}",
            [test_id.rpartition("::")[2] for test_id in change.ids],
        )
        for change in found.changes
    ]


def test_writing_the_same_in_another_way_is_no_difference(table: MakeTable) -> None:
    """Two entries instead of one, in other lines, with a pattern."""
    before = table("- names: [test_a, test_b]\n  tags: [x]")
    after = table("- names: [test_b]\n  tags: [x]\n- names: ['test_a']\n  tags: [x]")
    found = difference(before, after)
    assert found == Difference((), unchanged=4)


def test_tests_leave_and_enter_the_run(table: MakeTable) -> None:
    """One group for each pair of places, what is lost first."""
    before = table("- names: [test_a]\n- names: [test_c]\n  mode: skip")
    after = table("- names: [test_c]\n- names: [test_a]\n  edits: {dtypes: {exclude: [{name: int64}]}}")
    found = difference(before, after)
    assert summary(found) == [
        ("removed", "mandatory_success listed m.yaml:7", "skip dtype_excluded m.yaml:8", ["test_a_acme_int64"]),
        ("added", "skip listed m.yaml:8", "mandatory_success listed m.yaml:7", ["test_c_acme"]),
    ]
    assert (found.count(Effect.REMOVED), found.count(Effect.ADDED), found.unchanged) == (1, 1, 2)


def test_tests_with_one_cause_are_one_change(table: MakeTable) -> None:
    """A mode that holds for a whole entry."""
    found = difference(table("- names: [test_a]"), table("- names: [test_a]\n  mode: xfail"))
    assert summary(found) == [
        (
            "mode",
            "mandatory_success listed m.yaml:7",
            "xfail listed m.yaml:7",
            ["test_a_acme_float32", "test_a_acme_int64"],
        )
    ]


def test_another_reason_to_skip_is_no_difference(table: MakeTable) -> None:
    """The run is the same."""
    before = table("- names: [test_a]\n  mode: skip")
    assert difference(before, table("- names: [test_b]\n  mode: skip")).changes == ()


def test_tolerances_and_tags_are_differences_of_tests_that_run(table: MakeTable) -> None:
    """Only of the variants that have them."""
    loose = "  edits: {dtypes: {include: [{name: float32, precision: {atol: 0.1}}]}}"
    before = table("- names: [test_a]\n- names: [test_b]\n- names: [test_c]\n  mode: skip")
    after = table(
        f"- names: [test_a]\n{loose}\n- names: [test_b]\n  tags: [slow]\n"
        "- names: [test_c]\n  mode: skip\n  tags: [slow]"
    )
    assert [(effect, ids) for effect, _, _, ids in summary(difference(before, after))] == [
        ("tolerance", ["test_a_acme_float32"]),
        ("tags", ["test_b_acme_float32"]),
    ]


def test_tests_of_one_entry_with_different_tolerances_are_told_apart(table: MakeTable) -> None:
    """A change shows the tolerance of its first test, so it has to be that of all."""
    dtypes = "supported_dtypes:\n  - {name: float32%s}\n  - {name: int64%s}"
    before = table("- names: [test_a]", dtypes % ("", ""))
    after = table("- names: [test_a]", dtypes % (", precision: {atol: 0.1}", ", precision: {atol: 1}"))
    assert [ids for _, _, _, ids in summary(difference(before, after))] == [
        ["test_a_acme_float32"],
        ["test_a_acme_int64"],
    ]


def test_tables_about_other_tests_are_not_difference(table: MakeTable) -> None:
    """That would be a difference of the tests, not of the manifests."""
    whole = table("- names: [test_a]")
    with pytest.raises(ValueError, match="not about the same tests"):
        difference(whole, Table(whole.rows[1:]))
