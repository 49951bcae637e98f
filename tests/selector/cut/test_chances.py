"""How a file's probability is shared out among its tests."""

from __future__ import annotations

import pytest

from selector.cut.chances import Chances
from tests.selector.cut.ground import FILES, base_test, candidate


def test_scores_share_out_the_probability_of_a_file() -> None:
    chances = Chances([candidate("a", 0, score=0.6), candidate("a", 1, score=0.2)], {}, FILES)
    assert chances.of(base_test("a", 0)) == pytest.approx(0.075)
    assert chances.of(base_test("a", 1)) == pytest.approx(0.025)
    assert chances.of(base_test("a", 2)) == 0.0


def test_where_nothing_tells_tests_apart_they_share_alike() -> None:
    """Also in a file that no stage considered."""
    chances = Chances([candidate("b", 0, score=0.0, probability=0.2)], {"test/test_c.py": 0.5}, FILES)
    assert chances.of(base_test("b", 0)) == chances.of(base_test("b", 1)) == pytest.approx(0.1)
    assert chances.of(base_test("c", 7)) == pytest.approx(0.05)
    assert chances.of(base_test("a", 0)) == 0.0


def test_the_highest_estimate_of_a_file_counts() -> None:
    """Its tests are tied to the change by different rules, and one break is enough."""
    low, high = candidate("a", 0, probability=0.1), candidate("a", 1, probability=0.4)
    assert Chances([low, high], {"test/test_a.py": 0.2}, FILES).of_file("test/test_a.py") == 0.4
