"""Each written case gives the facts it lists: from its diff, and, where it has two trees, from the trees alone."""

from __future__ import annotations

import pytest

from selector.change import ChangeSet, Effect, analyse
from tests.selector.change.case_format import Case, read_cases, shown
from tests.selector.upstream import MemoryTree

CASES = read_cases()


def stage_one(case: Case) -> ChangeSet:
    return analyse(case.diff(), MemoryTree(case.base()), MemoryTree(case.head()))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.origin} {case.claim}")
def test_the_facts_are_those_listed(case: Case) -> None:
    change = stage_one(case)
    assert change.unreadable == ""
    expected = [" ; ".join(part.strip() for part in line.split(";")[:5]) for line in case.facts]
    assert sorted(map(shown, change.facts)) == sorted(expected)
    words = [(line.split(";")[5].strip(), line.split(";")[2].strip()) for line in case.facts if line.count(";") == 5]
    for evidence, symbol in words:
        assert any(evidence in fact.evidence and fact.symbol == symbol for fact in change.facts), evidence
    assert [file.path for file in change.files if file.noop is not None] == case.noops
    assert [file.path for file in change.files if file.doubt is not None] == case.doubts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.origin)
def test_every_file_has_a_fact_and_only_no_ops_have_no_effect(case: Case) -> None:
    for file in stage_one(case).files:
        assert file.facts
        assert all(fact.effect is Effect.NONE for fact in file.facts) == (file.noop is not None)
        assert any(fact.effect is Effect.UNKNOWN for fact in file.facts) <= (file.category.value != "docs")


def test_there_are_at_least_120_cases_and_each_makes_a_claim_of_its_own() -> None:
    claims = [case.claim for case in CASES]
    assert len(set(claims)) == len(claims) >= 120
