"""The lines between a child and its parent."""

from __future__ import annotations

import pytest

from workers.runner.child.events import Began, Ended, Event, Finished, Found, Refused, decode, encode

EVENTS: list[Event] = [
    Found("f::C::t", "C", "t", "t", "nn.functional.relu", None),
    Refused("line one\nline two \N{SNOWMAN}"),
    Began("f::C::t"),
    Ended("f::C::t", "failed", 0.0, "why \ud800"),
    Finished(),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_pipe_as_one_line(event: Event) -> None:
    lines = [line for line in encode(event).split(b"\n") if line]
    assert [decode(line) for line in lines] == [event]


def test_half_a_line_before_an_event_does_not_swallow_it() -> None:
    lines = (b'{"event": "Began", "id' + encode(Finished())).split(b"\n")
    assert [decode(line) for line in lines if line] == [None, Finished()]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"7",
        b"[" * 100_000,
        b'{"event": "Unknown"}',
        b'{"event": ["Began"], "id": "x"}',
        b'{"event": "Began"}',
        b'{"event": "Began", "id": 7}',
        b'{"event": "Began", "id": "x", "more": 1}',
        b'{"event": "Ended", "id": "x", "observation": "passed", "duration_s": "1", "detail": ""}',
    ],
)
def test_whatever_is_not_an_event_is_none(line: bytes) -> None:
    assert decode(line) is None
