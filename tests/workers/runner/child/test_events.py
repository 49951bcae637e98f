"""The lines between a child and the worker."""

from __future__ import annotations

import pytest

from workers.runner.child.events import Began, Ended, Event, Finished, Found, Reader, Refused, _seal, encode

KEY = b"key of the child"
EVENTS: list[Event] = [
    Found("f::C::t", "C", "t", "t", "nn.functional.relu", None, [["n", "1"]]),
    Refused("line one\nline two \N{SNOWMAN}"),
    Began("f::C::t"),
    Ended("f::C::t", "failed", 0.0, "why \ud800", ["aten::add.Tensor"]),
    Finished(),
]


def read(reader: Reader, data: bytes) -> list[Event | None]:
    return [reader.decode(line) for line in data.split(b"\n") if line]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_an_event_survives_the_pipe_as_one_line(event: Event) -> None:
    assert read(Reader(KEY), encode(event, 0, KEY)) == [event]


def test_half_a_line_before_an_event_does_not_swallow_it() -> None:
    half = encode(Began("x"), 0, KEY).strip()[:-5]
    assert read(Reader(KEY), half + encode(Finished(), 1, KEY)) == [None, Finished()]


def test_a_line_counts_once_and_none_after_a_later_one() -> None:
    first, second = encode(Began("x"), 0, KEY), encode(Finished(), 1, KEY)
    assert read(Reader(KEY), first + first + second + first) == [Began("x"), None, Finished(), None]


@pytest.mark.parametrize(
    "forged",
    [
        encode(Finished(), 7, b"another key"),
        encode(Finished(), 7, KEY).replace(b" 7 ", b" 8 "),
        encode(Began("x"), 7, KEY).replace(b'"x"', b'"y"'),
        b'7 {"says": "Finished"}',
        b'{"says": "Finished"}',
        b"\xff",
    ],
)
def test_a_line_without_the_seal_is_none(forged: bytes) -> None:
    assert read(Reader(KEY), forged) == [None]


@pytest.mark.parametrize(
    "body", [b"", b" ", b"x {}", b"-1 {}", b"1_0 {}", b"9" * 5000 + b" {}", b"1e9 {}", b"\xff {}", "\u0664 {}".encode()]
)
def test_a_sealed_line_that_is_no_event_is_dropped(body: bytes) -> None:
    """Test code can take the key out of its process; what it seals must not stop the worker that reads it."""
    assert Reader(KEY).decode(_seal(body, KEY) + b" " + body) is None
