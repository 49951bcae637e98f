"""A duty is one process's at a time, and somebody's again soon after that one is gone."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta

import pytest
from sqlalchemy import event

from relay.store.duties import DutyLease, last_done
from relay.store.engine import Store
from tests.relay.stories import START


class Clock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> datetime:
        return self.now

    def pass_s(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def lease(store: Store, clock: Clock, holder: str) -> DutyLease:
    return DutyLease(store, "sweep", lasts_s=10, now=clock, holder=holder)


def test_one_has_it_until_its_time_is_over(store: Store, clock: Clock) -> None:
    """Who is not heard of loses it; before that nobody else gets it, however often they ask."""
    one, other = lease(store, clock, "one"), lease(store, clock, "other")
    assert one.hold()
    clock.pass_s(10)
    assert not other.hold()
    clock.pass_s(0.001)
    assert other.hold()
    assert not one.hold()


def test_who_asks_again_keeps_it(store: Store, clock: Clock) -> None:
    """For longer than it lasts by itself; so does who has done it."""
    one, other = lease(store, clock, "one"), lease(store, clock, "other")
    for _ in range(5):
        assert one.hold()
        clock.pass_s(6)
        assert not other.hold()
    one.done()
    clock.pass_s(9)
    assert not other.hold()


def test_who_ends_well_gives_it_back_at_once(store: Store, clock: Clock) -> None:
    """Only what is its own: the one before the last takes nothing away."""
    one, other = lease(store, clock, "one"), lease(store, clock, "other")
    assert one.hold()
    one.release()
    assert other.hold()
    one.release()
    one.done()
    assert other.hold()
    assert not one.hold()
    assert last_done(store, "sweep") is None


def test_it_is_known_when_it_was_last_done_by_anybody(store: Store, clock: Clock) -> None:
    assert last_done(store, "sweep") is None
    one, other = lease(store, clock, "one"), lease(store, clock, "other")
    one.hold()
    one.done()
    assert last_done(store, "sweep") == START
    one.release()
    clock.pass_s(5)
    other.hold()
    assert last_done(store, "sweep") == START
    other.done()
    assert last_done(store, "sweep") == START + timedelta(seconds=5)


def test_of_many_who_ask_at_once_one_gets_it(store: Store, clock: Clock) -> None:
    """The first time, and when it became free."""
    leases = {f"process {number}": lease(store, clock, f"process {number}") for number in range(8)}
    for _ in range(3):
        with ThreadPoolExecutor(len(leases)) as pool:
            got = Counter(pool.map(lambda one: one.hold(), leases.values()))
        assert got == {True: 1, False: 7}
        clock.pass_s(11)


def test_asking_in_vain_and_asking_soon_again_write_nothing(store: Store, clock: Clock) -> None:
    """Replicas at rest leave the record's writer to others."""
    one, other = lease(store, clock, "one"), lease(store, clock, "other")
    one.hold()
    said: list[str] = []
    event.listen(store.engine, "before_cursor_execute", lambda *given: said.append(given[2].partition("\n")[0]))
    assert one.hold()
    assert not other.hold()
    assert said
    assert [line for line in said if not line.startswith("SELECT ") and line != "BEGIN"] == []
