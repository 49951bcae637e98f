"""Verdicts add and raise within a bounded lot, and take nothing out, whatever they are."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest

from selector.triage.answer import Verdict
from selector.triage.moving import ADDED, ADDED_SHARE, UNMOVED, Moved, moved, worth_of_a_wish
from selector.types import BaseTest, Candidate

AT = 0.3
TREE = 20_000


def band_of(files: int, tests: int = 5) -> list[Candidate]:
    """Files with falling probabilities, and in each the same number of tests."""
    return [
        Candidate(BaseTest(f"test/test_{file:03}.py", "TestX", f"test_{number:03}"), probability=0.5 / (file + 1))
        for file in range(files)
        for number in range(tests)
    ]


def falling(band: Sequence[Candidate], top: float = 0.9, bottom: float = 0.1) -> dict[BaseTest, float]:
    """Scores from top to bottom, the first test the highest."""
    return {it.test: round(top - (top - bottom) * place / len(band), 4) for place, it in enumerate(band)}


def said(band: Sequence[Candidate], word: Verdict, *files: str) -> dict[BaseTest, Verdict]:
    """The verdict for every test of these files, of all without any."""
    return {it.test: word for it in band if not files or it.test.file in files}


def judge(
    band: Sequence[Candidate],
    joined: Mapping[BaseTest, float],
    verdicts: Mapping[BaseTest, Verdict],
    tests: int = TREE,
) -> Moved:
    return moved(band, joined, verdicts, threshold=AT, tests=tests)


def kept(scores: Mapping[BaseTest, float]) -> set[BaseTest]:
    return {test for test, score in scores.items() if score >= AT}


def test_no_verdicts_move_nothing() -> None:
    band = band_of(10)
    assert judge(band, falling(band), {}) == UNMOVED
    assert judge([], {}, {}) == UNMOVED


def test_a_wanted_file_far_down_is_kept_and_gets_to_the_front() -> None:
    """A right answer about file 119 of 120 puts it before all that nobody is sure of."""
    band = band_of(120)
    joined = falling(band)
    verdicts = said(band, Verdict.DEFER) | said(band, Verdict.RUN, "test/test_119.py")
    after = judge(band, joined, verdicts)
    wanted = said(band, Verdict.RUN, "test/test_119.py").keys()
    assert not wanted & kept(joined)
    assert wanted <= kept(after.scores)
    assert min(after.probabilities[test] for test in wanted) > max(it.probability for it in band)


def test_tests_of_one_file_are_raised_above_their_likes() -> None:
    band = band_of(1, tests=10)
    joined = dict.fromkeys((it.test for it in band), 0.5)
    verdicts = {it.test: Verdict.RUN if place < 2 else Verdict.UNSURE for place, it in enumerate(band)}
    scores = judge(band, joined, verdicts).scores
    assert [scores[it.test] for it in band] == [0.625] * 2 + [0.5] * 8


def test_a_deferred_test_loses_a_tenth_of_its_score_and_stays_kept() -> None:
    band = band_of(3, tests=1)
    joined = dict(zip((it.test for it in band), (0.9, 0.31, 0.2), strict=True))
    after = judge(band, joined, said(band, Verdict.DEFER))
    assert list(after.scores.values()) == [0.81, 0.3, 0.18]
    assert after.probabilities == {}


def test_what_is_unsure_and_would_not_run_comes_after_what_is_wanted() -> None:
    band = band_of(2, tests=ADDED)
    joined = dict.fromkeys((it.test for it in band), 0.2)
    verdicts = said(band, Verdict.UNSURE, "test/test_000.py") | said(band, Verdict.RUN, "test/test_001.py")
    after = judge(band, joined, verdicts, tests=0)
    assert {test.file for test in kept(after.scores)} == {"test/test_001.py"}
    assert {test.file for test in after.beyond} == {"test/test_000.py"}
    assert kept(judge(band, joined, verdicts).scores) == set(joined)


def test_what_is_unsure_runs_and_is_no_wish() -> None:
    band = band_of(1)
    after = judge(band, dict.fromkeys((it.test for it in band), 0.2), said(band, Verdict.UNSURE))
    assert set(after.scores.values()) == {AT}
    assert (after.probabilities, after.wanted, after.asked) == ({}, 0, 1)


@pytest.mark.parametrize("tests", [0, 200, TREE])
def test_what_may_be_added_is_a_share_of_the_tree(tests: int) -> None:
    band = band_of(400)
    joined = falling(band, top=0.2)
    after = judge(band, joined, said(band, Verdict.RUN), tests)
    room = max(ADDED, int(tests * ADDED_SHARE))
    assert len(kept(after.scores)) == room
    assert len(after.beyond) == len(band) - room
    assert not after.beyond & set(after.probabilities)


def test_the_lot_goes_to_the_likeliest_first() -> None:
    band = band_of(50)
    joined = dict.fromkeys((it.test for it in band), 0.2)
    after = judge(band, joined, said(band, Verdict.RUN), tests=0)
    assert {test.file for test in kept(after.scores)} == {f"test/test_00{file}.py" for file in range(ADDED // 5)}


def test_a_wish_is_worth_the_more_the_fewer_there_are() -> None:
    worths = [worth_of_a_wish(wanted, 120) for wanted in range(1, 121)]
    assert worths == sorted(worths, reverse=True)
    assert worths[0] > 0.95
    assert 0.05 < worths[4] < 0.15
    assert worths[59] < 0.0001
    assert worth_of_a_wish(0, 120) == worth_of_a_wish(0, 0) == 0.0


@pytest.mark.parametrize("asked", [1, 2, 5, 30, 120])
def test_all_wishes_together_are_worth_one_broken_file_at_most(asked: int) -> None:
    assert all(wanted * worth_of_a_wish(wanted, asked) <= 1.0 for wanted in range(1, asked + 1))


def test_a_model_that_says_the_opposite_leaves_the_order_as_it_is() -> None:
    """It wants all files but the right one, so that its wishes count next to nothing."""
    band = band_of(120)
    verdicts = said(band, Verdict.RUN) | said(band, Verdict.DEFER, "test/test_010.py")
    after = judge(band, falling(band), verdicts)
    assert all(after.probabilities.get(it.test, it.probability) - it.probability < 0.0001 for it in band)


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_verdicts_nothing_kept_is_lost(seed: int) -> None:
    dice = random.Random(seed)  # noqa: S311  # repeatable on purpose
    band = band_of(100)
    joined = falling(band)
    verdicts = {it.test: dice.choice(list(Verdict)) for it in band if dice.random() < 0.9}
    after = judge(band, joined, verdicts, dice.choice([0, 500, TREE]))
    final = joined | dict(after.scores)
    assert kept(joined) <= kept(final)
    assert set(final) == set(joined)
    assert all(final[test] >= 0.9 * joined[test] - 0.0001 for test in joined)
    assert all(after.probabilities[it.test] >= it.probability for it in band if it.test in after.probabilities)
    assert all(0 <= value <= 1 for value in (*final.values(), *after.probabilities.values()))
