"""The tail keeps the newest events, and knows when a reader has missed some."""

from __future__ import annotations

from datetime import UTC, datetime

from relay.views import RunEvent
from relay.web.live.tail import Tail, Told

AT = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)


def event(number: int) -> RunEvent:
    return RunEvent(id=number, run_id=number % 3, at=AT, kind="run.planned", text=f"event {number}")


def tail_of(*numbers: int, size: int = 4, whole: bool = True) -> Tail:
    return Tail(size, [event(number) for number in numbers], whole=whole)


def ids(told: tuple[Told, ...] | None) -> list[int] | None:
    return None if told is None else [each.event_id for each in told]


def after(tail: Tail, event_id: int) -> list[int] | None:
    place = tail.after(event_id)
    return None if place is None else ids(tail.since(place))


def test_a_reader_who_comes_back_gets_what_followed() -> None:
    tail = tail_of(5, 6, 8)
    assert after(tail, 5) == [6, 8]
    assert after(tail, 7) == [8]
    assert after(tail, 8) == []
    assert after(tail, 0) == [5, 6, 8]


def test_a_reader_who_was_away_too_long_is_told() -> None:
    tail = tail_of(5, 6, 7, 8, 9)
    assert after(tail, 4) is None
    assert after(tail, 5) == [6, 7, 8, 9]


def test_what_was_before_the_first_known_event_is_not_known() -> None:
    tail = tail_of(5, 6, whole=False)
    assert after(tail, 4) is None
    assert after(tail, 5) == [6]


def test_a_slow_reader_is_told_instead_of_kept_waiting_for() -> None:
    tail = tail_of(1)
    place = tail.end
    for number in range(2, 6):
        tail.add(event(number))
    assert ids(tail.since(place)) == [2, 3, 4, 5]
    tail.add(event(6))
    assert tail.since(place) is None
    assert len(tail.since(tail.end - 4) or ()) == 4


def test_a_reader_of_a_newer_page_begins_at_the_end() -> None:
    tail = tail_of(5, 6)
    assert after(tail, 7) == []


def test_an_event_out_of_order_is_told_again_rather_than_missed() -> None:
    tail = tail_of(5, 6, 9, 7)
    assert after(tail, 9) == [7]
    assert after(tail, 6) == [9, 7]
    assert tail.mark == 9


def test_the_json_is_that_of_the_view() -> None:
    (told,) = tail_of(5).since(0) or ()
    assert RunEvent.model_validate_json(told.data) == event(5)


def test_an_empty_tail_has_a_beginning() -> None:
    assert after(tail_of(), 0) == []
