"""The account of a consultation books what was spent and refuses what could go over."""

from __future__ import annotations

import pytest

from selector.triage.budget import Account, Budget, BudgetError, estimate
from selector.triage.conversation import Reply, Said, ToolCall, ToolSpec, Usage


def account(**limits: float) -> Account:
    return Account(Budget(**limits), lambda: 0.0)  # type: ignore[arg-type]  # counts are whole in every case


def test_an_answer_may_be_as_long_as_what_is_left() -> None:
    made = account(tokens=1_000, answer_tokens=800)
    assert made.admit(100) == 800
    made.charge(100, Reply("", (), Usage(100, 500)))
    assert made.admit(100) == 300
    with pytest.raises(BudgetError, match="token budget"):
        made.admit(400)


def test_a_server_that_counts_too_little_is_not_believed() -> None:
    made = account()
    made.charge(5_000, Reply("x" * 3_000, (), Usage(0, 0)))
    assert made.usage.input == 5_000
    assert made.usage.output >= 1_000


def test_a_server_that_counts_absurdly_ends_the_talk() -> None:
    made = account()
    made.charge(10, Reply("x", (), Usage(10**30, 10**30)))
    with pytest.raises(BudgetError):
        made.admit(1)


def test_money_is_counted_at_the_worst() -> None:
    made = account(money=0.02, price_in=1.0, price_out=10.0, answer_tokens=1_000)
    assert made.admit(9_000) == 1_000
    with pytest.raises(BudgetError, match="money budget"):
        made.admit(11_000)
    made.charge(9_000, Reply("x", (), Usage(9_000, 100)))
    assert made.money == pytest.approx(0.01)


def test_time_is_of_the_clock_that_was_handed_in() -> None:
    now = [5.0]
    made = Account(Budget(wall_s=10), lambda: now[0])
    now[0] = 14.0
    assert made.seconds_left == 1.0
    now[0] = 15.0
    with pytest.raises(BudgetError, match="time budget"):
        made.admit(1)


def test_no_calls_are_left_after_the_last_round() -> None:
    made = account(calls=8, rounds=2)
    assert made.calls_left == 8
    made.rounds = 2
    assert made.calls_left == 0


def test_everything_that_is_sent_is_estimated() -> None:
    bare = estimate(iter((Said("user", "x" * 300),)))
    spec = ToolSpec("name", "d" * 300, {})
    assert estimate(iter((Said("user", "x" * 300),)), (spec,)) > bare + 90
    called = Said("assistant", "x" * 300, (ToolCall("a", "b", {"c": "d" * 300}),))
    assert estimate(iter((called,))) > bare + 90
