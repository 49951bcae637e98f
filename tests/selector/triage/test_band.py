"""The grey band is asked about as finely as one question allows."""

from __future__ import annotations

from dataclasses import replace

from selector.triage.band import OFFER_CAP, Group, grouped
from selector.types import BaseTest, Candidate


def band(files: int, classes: int, tests: int) -> list[Candidate]:
    return [
        Candidate(BaseTest(f"test/test_{file}.py", f"Test{cls}", f"test_{test}"))
        for file in range(files)
        for cls in range(classes)
        for test in range(tests)
    ]


def names(candidates: list[Candidate], scores: dict[BaseTest, float] | None = None) -> list[str]:
    joined = {it.test: 0.3 for it in candidates} | (scores or {})
    groups = grouped(candidates, joined, 0.3)
    assert len({it.test for group in groups for it in group.candidates}) == sum(len(it.candidates) for it in groups)
    return [group.label for group in groups]


def test_few_tests_are_asked_about_one_by_one() -> None:
    assert names(band(1, 1, 2)) == ["test/test_0.py::Test0::test_0", "test/test_0.py::Test0::test_1"]
    assert len(names(band(1, 1, OFFER_CAP))) == OFFER_CAP


def test_more_are_asked_about_by_class_and_still_more_by_file() -> None:
    assert names(band(1, 2, 100)) == ["test/test_0.py::Test0 (100 tests)", "test/test_0.py::Test1 (100 tests)"]
    assert names(band(2, 100, 2)) == ["test/test_0.py (200 tests)", "test/test_1.py (200 tests)"]


def test_of_too_many_files_the_likeliest_to_break_are_asked_about() -> None:
    candidates = band(OFFER_CAP + 5, 1, 1)
    likely = [replace(it, probability=0.1) if place >= 5 else it for place, it in enumerate(candidates)]
    asked = names(likely)
    assert len(asked) == OFFER_CAP
    assert not any(str(it.test) in asked for it in candidates[:5])


def test_of_too_many_files_those_that_are_kept_anyway_come_last() -> None:
    candidates = band(OFFER_CAP + 5, 1, 1)
    kept = [replace(it, probability=0.9) if place < 5 else it for place, it in enumerate(candidates)]
    scores = {it.test: 0.9 if place < 5 else 0.2 for place, it in enumerate(kept)}
    asked = names(kept, scores)
    assert len(asked) == OFFER_CAP
    assert not any(str(it.test) in asked for it in candidates[:5])


def test_the_likeliest_come_first() -> None:
    candidates = band(3, 1, 1)
    assert names(candidates, {candidates[2].test: 0.5})[0] == "test/test_2.py::Test0::test_0"


def test_a_test_alone_in_its_class_keeps_its_name() -> None:
    candidates = [*band(1, 1, OFFER_CAP), Candidate(BaseTest("test/test_z.py", "TestZ", "test_alone"))]
    assert "test/test_z.py::TestZ::test_alone" in names(candidates)


def test_an_empty_band_has_no_groups() -> None:
    assert grouped((), {}, 0.3) == ()
    assert Group("a", (Candidate(BaseTest("a", "b", "c")),)).label == "a"
