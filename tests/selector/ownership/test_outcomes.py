"""Tests that broke before are proposed, by the strength of what is known, and run where they were missed."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import pytest

from selector.catalog import build_catalog
from selector.change import Category, ChangeSet, FileChange, Status
from selector.known import Known
from selector.ownership import link_tests
from selector.ownership.links import EVIDENCE_CAP, Link
from selector.ownership.outcomes import MOST_ADDED, outcome_links
from tests.selector.upstream import MemoryTree

CATALOG = build_catalog(
    MemoryTree(
        {
            "test/test_a.py": "class TestA(TestCase):\n    def test_x(self): pass\n    def test_y(self): pass\n",
            "test/test_many.py": "".join(f"def test_{number}(): pass\n" for number in range(MOST_ADDED + 100)),
        }
    )
)
X, Y, GONE = "test/test_a.py::TestA::test_x", "test/test_a.py::TestA::test_y", "test/gone.py::T::../test_gone"
MANY = [f"test/test_many.py::test_{number}" for number in range(MOST_ADDED + 100)]
PATH = "torch/quite/alone.py"
FILE = FileChange(PATH, None, Status.MODIFIED, Category.PYTHON_SOURCE, symbols=("f",))


@dataclass
class Past:
    """A record with fixed content, which notes what it is asked."""

    last: Mapping[str, str] = field(default_factory=dict)
    broke: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    missed: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    asked: list[list[str]] = field(default_factory=list)

    def failed_last(self) -> Mapping[str, str]:
        return self.last

    def failed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, float]]:
        self.asked.append(list(paths))
        return self.broke

    def missed_with(self, paths: Collection[str]) -> Mapping[str, Mapping[str, str]]:
        self.asked.append(list(paths))
        return self.missed


def links(past: Past, *files: FileChange) -> list[Link]:
    return list(outcome_links(ChangeSet(files or (FILE,)), CATALOG, past))


def told(past: Past) -> list[tuple[str, str, float | None, bool]]:
    return [(str(it.test.test), it.reason.rule, it.reason.score, it.must_run) for it in links(past)]


def test_what_the_last_version_broke_must_run_and_says_when() -> None:
    found = links(Past(last={X: "broken by 1a2b3c in run 7", GONE: "ignored"}))
    assert [(str(it.test.test), it.reason.evidence, it.must_run) for it in found] == [
        (X, "broken by 1a2b3c in run 7", True)
    ]
    assert found[0].reason.rule == "failed last"


def test_what_was_missed_with_a_path_must_run() -> None:
    past = Past(missed={PATH: {Y: "an audit saw it", GONE: "ignored"}, "torch/unasked.py": {X: "not of this change"}})
    assert told(past) == [(Y, "missed before", 1.0, True)]


@pytest.mark.parametrize(("strength", "score"), [(0.5, 0.3), (1.0, 0.6), (40.0, 0.6)])
def test_what_broke_before_counts_by_its_strength(strength: float, score: float) -> None:
    assert told(Past(broke={PATH: {X: strength, GONE: 9.0}})) == [(X, "broke before", score, False)]


def test_a_small_share_of_a_large_change_says_nothing() -> None:
    assert told(Past(broke={PATH: {X: 0.01}})) == []


def test_each_rule_adds_so_many_tests_at_most_and_the_strongest_first() -> None:
    past = Past(
        last=dict.fromkeys(MANY, "s" * 1_000),
        broke={PATH: {name: 0.1 + place / 10_000 for place, name in enumerate(MANY)}},
        missed={PATH: dict.fromkeys(MANY, "s" * 1_000)},
    )
    found = links(past)
    assert len(found) == 3 * MOST_ADDED
    assert str(found[0].test.test) == MANY[-1]
    assert max(len(it.reason.evidence) for it in found) == EVIDENCE_CAP


def test_both_names_of_a_moved_file_are_asked_about() -> None:
    past = Past(missed={"torch/old.py": {X: "seen"}})
    moved = FileChange(PATH, "torch/old.py", Status.RENAMED, Category.PYTHON_SOURCE)
    assert [str(it.test.test) for it in links(past, moved)] == [X]
    assert past.asked == [["torch/old.py", PATH]] * 2


def test_a_change_that_cannot_matter_has_no_past() -> None:
    past = Past(last={X: "broken"})
    harmless = FileChange(PATH, None, Status.MODIFIED, Category.PYTHON_SOURCE, noop="comments only")
    assert (links(past, harmless), past.asked) == ([], [])


def test_the_past_adds_candidates_and_leaves_a_file_untied() -> None:
    """What broke once is incomplete: a file that only it ties to tests still widens the selection."""
    change = ChangeSet((FILE,))
    assert link_tests(change, CATALOG).candidates == ()
    past = Past(last={X: "broken in run 7"}, broke={PATH: {Y: 1.0}})
    found = link_tests(change, CATALOG, "", Known(outcomes=past))
    assert [(str(it.test), it.must_run) for it in found.candidates] == [(X, True), (Y, False)]
    assert found.candidates[1].score >= 0.6
    assert found.unlinked == (FILE,)
