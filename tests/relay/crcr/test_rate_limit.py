"""How often a backend and an address may call."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select

from relay.crcr.rate_limit import AddressLimit, count_call
from relay.store.crcr_models import RateBucket
from relay.store.engine import Store
from relay.throttle import network_of, refill, seconds_to_wait, take_token, wait_for_token

NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


def after(seconds: float) -> datetime:
    """A moment of the test's clock."""
    return NOW + timedelta(seconds=seconds)


def take(store: Store, at: datetime, *, key: str = "repo/a/l2", limit: int = 100) -> int | None:
    """One call, in a transaction of its own."""
    with store.writing() as session:
        return take_token(session, key, limit, at)


def count(store: Store, at: datetime, *, key: str = "window/a/l2", limit: int = 100) -> bool:
    """One call as the original counts it."""
    with store.writing() as session:
        return count_call(session, key, limit, at)


def test_a_minutes_worth_may_come_at_once(store: Store) -> None:
    """The call after that is refused, and another key is another bucket."""
    assert [take(store, NOW, limit=5) for _ in range(6)] == [None] * 5 + [12]
    assert take(store, NOW, key="repo/a/l3", limit=5) is None


def test_the_promised_wait_is_enough_and_not_too_long(store: Store) -> None:
    """A client that waits as told is let in, one that comes a second earlier is not."""
    for _ in range(5):
        take(store, NOW, limit=5)
    wait_s = take(store, NOW, limit=5)
    assert wait_s is not None
    assert take(store, after(wait_s - 1), limit=5) is not None
    assert take(store, after(wait_s), limit=5) is None


def test_looking_tells_the_wait_and_takes_nothing(store: Store) -> None:
    """Of a bucket that nobody knows yet, too."""

    def look(at: datetime) -> int | None:
        with store.reading() as session:
            return seconds_to_wait(session, "repo/a/l2", 5, at)

    assert [look(NOW) for _ in range(20)] == [None] * 20
    answers = []
    for _ in range(6):
        answers.append(look(NOW))
        take(store, NOW, limit=5)
    assert answers == [None] * 5 + [12]
    assert look(after(12)) is None


def test_refused_calls_do_not_keep_the_door_shut(store: Store) -> None:
    """Who keeps trying gets in as soon as who waits."""
    for _ in range(5):
        take(store, NOW, limit=5)
    tries = [take(store, after(tenth / 10), limit=5) for tenth in range(1, 121)]
    assert tries[-1] is None
    assert tries.count(None) == 1


def test_a_bucket_holds_no_more_than_a_minute(store: Store) -> None:
    """A long rest earns nothing beyond it."""
    assert take(store, NOW, limit=2) is None
    assert [take(store, after(3_600), limit=2) for _ in range(3)] == [None, None, 30]


def test_a_clock_that_goes_back_gives_and_takes_nothing(store: Store) -> None:
    """Replicas have clocks of their own."""
    assert take(store, after(10), limit=1) is None
    assert take(store, NOW, limit=1) == 60
    assert take(store, after(69), limit=1) is not None
    assert take(store, after(70), limit=1) is None


def test_idle_buckets_are_swept_away(store: Store) -> None:
    """A row of a backend that does not call any more does not stay for good."""
    for number in range(5):
        take(store, NOW, key=f"repo/{number}")
    take(store, after(3_600), key="repo/new")
    with store.reading() as session:
        assert session.scalar(select(func.count()).select_from(RateBucket)) == 1


def test_replicas_share_a_bucket(store: Store) -> None:
    """Of twenty calls at once exactly as many pass as there are tokens."""
    answers: list[int | None] = []
    threads = [threading.Thread(target=lambda: answers.append(take(store, NOW, limit=7))) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers.count(None) == 7
    assert len(answers) == 20


def test_the_original_counts_a_sliding_minute(store: Store) -> None:
    """A call counts for exactly sixty seconds."""
    assert [count(store, after(second), limit=3) for second in (0, 10, 20)] == [True, True, True]
    assert not count(store, after(59), limit=3)
    # At 70 the calls at 0 and 10 are over; those at 20 and 59, the refused one, and this one make three.
    assert count(store, after(70), limit=3)


def test_the_original_counts_what_it_refused(store: Store) -> None:
    """Who keeps trying is kept out."""
    for _ in range(3):
        assert count(store, NOW, limit=3)
    assert not any(count(store, after(15 * step), limit=3) for step in range(1, 30))


def test_windows_of_different_backends_are_apart(store: Store) -> None:
    """Whatever characters their names share."""
    assert count(store, NOW, key="window/a/l_2", limit=1)
    assert count(store, NOW, key="window/a/lx2", limit=1)
    assert not count(store, NOW, key="window/a/l_2", limit=1)


def test_an_address_has_ten_times_a_backends_calls() -> None:
    """Machines behind one address are many; a stranger's flood ends all the same."""
    limit = AddressLimit(1)
    assert [limit.take("192.0.2.1", NOW) for _ in range(11)] == [None] * 10 + [6]
    assert limit.take("192.0.2.2", NOW) is None
    assert limit.take("192.0.2.1", after(6)) is None


def test_addresses_that_called_longest_ago_are_forgotten() -> None:
    """Memory is bounded, whoever calls."""
    limit = AddressLimit(1)
    for number in range(10_050):
        limit.take(f"10.0.{number // 250}.{number % 250}", NOW)
    assert len(limit) == 10_000


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("192.0.2.1", "192.0.2.2", False),
        ("testclient", "testclient", True),
    ],
)
def test_who_owns_an_address(one: str, other: str, same: bool) -> None:
    """One machine owns a whole network of IPv6."""
    assert (network_of(one) == network_of(other)) is same


@given(st.floats(0, 1_000), st.floats(-100, 10_000), st.integers(1, 1_000))
def test_a_bucket_never_overflows_nor_loses(tokens: float, elapsed_s: float, per_minute: int) -> None:
    """Whatever the clock does."""
    held = min(tokens, per_minute)
    assert held <= refill(held, elapsed_s, per_minute) <= per_minute


@given(st.floats(0, 0.999), st.integers(1, 1_000))
def test_after_the_wait_there_is_a_token(tokens: float, per_minute: int) -> None:
    """The seconds told are always enough."""
    assert refill(tokens, wait_for_token(tokens, per_minute), per_minute) >= 1 - 1e-6
