"""Events are handed on in the order of their ids, whatever the order in which they become visible."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from relay.views import RunEvent
from relay.web.live.order import HOLE_S, LATE_S, WIDEST, EventOrder

AT = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


def event(number: int) -> RunEvent:
    return RunEvent(id=number, run_id=1, at=AT, kind="tests.reported", text="")


def events(*numbers: int) -> list[RunEvent]:
    return [event(number) for number in numbers]


def ids(told: list[RunEvent]) -> list[int]:
    return [each.id for each in told]


def test_events_without_holes_are_handed_on_at_once() -> None:
    order = EventOrder(events(4, 5), 0.0)
    assert ids(order.take(events(6, 7), 1.0)) == [6, 7]
    assert (order.told, order.seen, order.missing) == (7, 7, ())


def test_a_later_event_waits_for_an_earlier_one() -> None:
    order = EventOrder(events(5), 0.0)
    assert order.take(events(7, 9), 0.0) == []
    assert set(order.missing) == {6, 8}
    assert ids(order.take(events(6), 1.0)) == [6, 7]
    assert ids(order.take(events(8), 1.1)) == [8, 9]


def test_the_hole_of_a_transaction_rolled_back_holds_up_nobody_for_long() -> None:
    order = EventOrder(events(5), 0.0)
    assert order.take(events(7), 10.0) == []
    assert order.take([], 10.0 + HOLE_S - 0.1) == []
    assert ids(order.take([], 10.0 + HOLE_S)) == [7]


def test_an_event_that_was_given_up_is_told_when_it_comes_nevertheless() -> None:
    order = EventOrder(events(5), 0.0)
    order.take(events(7), 0.0)
    order.take([], HOLE_S)
    assert list(order.missing) == [6]
    assert ids(order.take(events(6, 8), HOLE_S + 1)) == [6, 8]
    assert not order.missing


def test_nobody_asks_for_ever_for_an_event_that_never_comes() -> None:
    order = EventOrder(events(5), 0.0)
    order.take(events(7), 0.0)
    order.take([], HOLE_S)
    order.take([], HOLE_S + LATE_S)
    assert not order.missing


def test_holes_at_the_start_are_asked_for_and_hold_up_nobody() -> None:
    order = EventOrder(events(3, 6), 0.0)
    assert order.missing == (4, 5)
    assert ids(order.take(events(5, 7), 1.0)) == [5, 7]


def test_a_jump_of_the_sequence_is_not_waited_for_whole() -> None:
    order = EventOrder(events(5), 0.0)
    order.take(events(50_000), 0.0)
    assert len(order.missing) <= WIDEST
    assert ids(order.take([], HOLE_S)) == [50_000]


def test_nothing_is_known_of_an_empty_record() -> None:
    order = EventOrder([], 0.0)
    assert (order.told, order.seen, order.missing) == (0, 0, ())
    assert ids(order.take(events(1, 2), 0.0)) == [1, 2]


@given(st.permutations(range(11, 31)), st.lists(st.integers(1, 5), min_size=20, max_size=20))
def test_each_event_is_told_once_and_in_order_however_they_appear(appearing: list[int], sizes: list[int]) -> None:
    order, told, at = EventOrder(events(10), 0.0), [], 0
    for size in sizes:
        batch = sorted(appearing[at : at + size])
        told += ids(order.take(events(*batch), 0.1))
        at += size
    assert told == list(range(11, 31))
