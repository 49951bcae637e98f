"""Values on their way between the two sides."""

from __future__ import annotations

import pytest

from workers.runner.child.control import CONTROL, Exited, Fork, Message, Ready

MESSAGES: list[Message] = [Ready("why \ud800 \N{SNOWMAN}"), Fork(), Exited(-9, True)]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda message: type(message).__name__)
def test_a_value_survives_the_way(message: Message) -> None:
    assert CONTROL.decode(CONTROL.encode(message)) == message


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"7",
        b"[" * 100_000,
        b'{"says": "Unknown"}',
        b'{"says": ["Fork"]}',
        b'{"says": "Exited", "status": 1}',
        b'{"says": "Exited", "status": "1", "clean": true}',
        b'{"says": "Fork", "more": 1}',
    ],
)
def test_whatever_is_not_of_the_language_is_none(data: bytes) -> None:
    assert CONTROL.decode(data) is None
