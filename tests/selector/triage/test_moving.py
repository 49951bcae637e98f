"""Verdicts change the order of the band by a bounded lot, whatever they are."""

from __future__ import annotations

import random

import pytest

from selector.triage.answer import Verdict
from selector.triage.moving import ADDED, SHARE, moved
from selector.types import BaseTest

AT = 0.3


def some_tests(count: int) -> list[BaseTest]:
    return [BaseTest("test/test_x.py", "TestX", f"test_{number:04}") for number in range(count)]


def ladder(count: int, top: float = 0.9, bottom: float = 0.1) -> dict[BaseTest, float]:
    """Scores from top to bottom, the first test the highest."""
    return {test: top - (top - bottom) * place / count for place, test in enumerate(some_tests(count))}


def order(scores: dict[BaseTest, float]) -> list[BaseTest]:
    return sorted(scores, key=lambda test: (-scores[test], test))


def test_no_verdicts_move_nothing() -> None:
    scores = ladder(50)
    assert moved(scores, {}, AT).scores == scores
    assert moved({}, {}, AT).scores == {}


def test_a_wanted_test_gets_the_first_of_the_models_places() -> None:
    scores = ladder(100)
    last = some_tests(100)[-1]
    after = dict(moved(scores, {last: Verdict.RUN}, AT).scores)
    assert order(after).index(last) == SHARE - 1
    assert sorted(after.values()) == sorted(scores.values())


def test_a_deferred_test_goes_down_by_a_tenth_of_its_rank() -> None:
    scores = ladder(200)
    deferred = some_tests(200)[99]
    after = dict(moved(scores, {deferred: Verdict.DEFER}, AT).scores)
    assert order(after).index(deferred) == 109


def test_what_is_unsure_and_would_not_run_comes_after_what_is_wanted() -> None:
    scores = ladder(100, top=0.2)
    first, second = some_tests(100)[-2:]
    after = dict(moved(scores, {first: Verdict.UNSURE, second: Verdict.RUN}, AT).scores)
    assert (after[first], after[second]) == (AT, AT)


def test_what_may_be_added_is_bounded() -> None:
    few = ladder(100, top=0.2)
    all_wanted = moved(few, dict.fromkeys(few, Verdict.RUN), AT)
    assert sum(score >= AT for score in all_wanted.scores.values()) == ADDED
    assert len(all_wanted.beyond) == 100 - ADDED
    many = ladder(1_000)
    kept = sum(score >= AT for score in many.values())
    after = moved(many, dict.fromkeys(many, Verdict.RUN), AT).scores
    assert kept < sum(score >= AT for score in after.values()) <= kept * (1 + 1 / SHARE)


@pytest.mark.parametrize("seed", range(20))
def test_at_any_cut_the_first_four_fifths_are_in(seed: int) -> None:
    """Whatever the verdicts, a budget holds what a budget smaller by a fifth would have held without them."""
    dice = random.Random(seed)  # noqa: S311  # repeatable on purpose
    scores = ladder(500)
    verdicts = {test: dice.choice(list(Verdict)) for test in scores}
    before, after = order(scores), order(dict(moved(scores, verdicts, AT).scores))
    assert sorted(after) == sorted(before)
    assert all(set(before[: int(cut * 0.8)]) <= set(after[:cut]) for cut in range(1, 501))


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5])
def test_a_model_that_says_the_opposite_costs_no_more(share: float) -> None:
    scores = ladder(500)
    before = order(scores)
    upper = set(before[: int(500 * share)])
    verdicts = {test: Verdict.DEFER if test in upper else Verdict.RUN for test in scores}
    after = order(dict(moved(scores, verdicts, AT).scores))
    assert all(set(before[: int(cut * 0.8)]) <= set(after[:cut]) for cut in range(1, 501))
