"""The lot."""

from __future__ import annotations

from selector.cut.holdout import RULE, drawn
from selector.types import BaseTest, Candidate

FILES, TESTS = range(20), range(200)
MANY = [Candidate(BaseTest(f"test/test_{file}.py", "T", f"test_{number}")) for file in FILES for number in TESTS]


def test_the_same_plan_draws_the_same_tests() -> None:
    assert drawn(MANY, 0.03, "key") == drawn(MANY, 0.03, "key")
    assert drawn(MANY, 0.03, "key") != drawn(MANY, 0.03, "another key")


def test_a_greater_share_draws_the_tests_of_a_smaller_one_and_more() -> None:
    few, more = ({it.test for it in drawn(MANY, share, "key")} for share in (0.02, 0.05))
    assert few < more


def test_every_test_has_the_same_chance_whatever_its_file() -> None:
    """Of 4,000 tests and 50 plans 3 % are drawn, give or take what chance gives: six standard deviations."""
    plans = [{it.test for it in drawn(MANY, 0.03, f"key {number}")} for number in range(50)]
    share = sum(map(len, plans)) / (50 * len(MANY))
    assert abs(share - 0.03) < 6 * (0.03 * 0.97 / (50 * len(MANY))) ** 0.5
    of_files = [sum(test.file == f"test/test_{file}.py" for plan in plans for test in plan) for file in FILES]
    assert max(abs(count - 300) for count in of_files) < 6 * (10_000 * 0.03 * 0.97) ** 0.5


def test_all_and_nothing() -> None:
    assert drawn(MANY, 0.0, "key") == ()
    held = drawn(MANY, 1.0, "key")
    assert [it.test for it in held] == [it.test for it in MANY]
    assert {it.reasons[-1].rule for it in held} == {RULE}
