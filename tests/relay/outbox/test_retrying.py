"""Pauses grow, are drawn from their whole range, and respect what the other side asks for."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay.outbox.retrying import RetryTerms
from tests.relay.stories import START

TERMS = RetryTerms(base_s=2, longest_s=600, max_attempts=5, max_age_s=100)


@pytest.mark.parametrize(("attempts", "bound"), [(1, 2), (2, 4), (5, 32), (10, 600), (10_000, 600)])
def test_the_range_doubles_up_to_its_bound(attempts: int, bound: float) -> None:
    assert TERMS.pause_s(attempts, None, lambda: 1.0) == bound
    assert TERMS.pause_s(attempts, None, lambda: 0.5) == bound / 2


@given(st.integers(1, 2_000), st.none() | st.floats(-10, 1e12), st.floats(0, 1))
def test_a_pause_is_never_nothing_and_never_for_ever(attempts: int, after_s: float | None, luck: float) -> None:
    assert 0.1 <= TERMS.pause_s(attempts, after_s, lambda: luck) <= 86_403


@given(st.floats(0, 86_400), st.floats(0, 1))
def test_nobody_comes_before_the_time_that_was_named(after_s: float, luck: float) -> None:
    assert TERMS.pause_s(1, after_s, lambda: luck) > after_s


@pytest.mark.parametrize(
    ("attempts", "age_s", "given_up"), [(1, 0, False), (4, 99, False), (5, 0, True), (1, 100, True)]
)
def test_attempts_and_age_end_it(attempts: int, age_s: float, given_up: bool) -> None:
    assert TERMS.given_up(attempts, START, START + timedelta(seconds=age_s)) == given_up
