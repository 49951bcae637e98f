"""What a task answers, put together from what its process says."""

from __future__ import annotations

import base64

import pytest

from workers.runner.answers import Pieces
from workers.runner.child.events import Piece, Refused


def piece(data: bytes) -> Piece:
    return Piece(base64.b64encode(data).decode())


def test_pieces_are_joined_in_their_order() -> None:
    pieces = Pieces(100)
    for part in (b"one", b"two"):
        pieces.receive(piece(part))
    assert pieces.answer("").data == b"onetwo"
    assert pieces.answer("the process was killed").data == b""
    assert pieces.answer("the process was killed").error == "the process was killed"


@pytest.mark.parametrize(
    ("events", "error"),
    [
        ([Refused("no such model"), piece(b"x")], "no such model"),
        ([Refused("")], "it gives no reason"),
        ([Piece("?")], "its answer cannot be read"),
        ([piece(b"x" * 60), piece(b"x" * 60)], "its answer is larger than 0 MiB"),
    ],
)
def test_an_answer_that_is_none_says_why(events: list[Piece | Refused], error: str) -> None:
    pieces = Pieces(100)
    for event in events:
        pieces.receive(event)
    found = pieces.answer("")
    assert (found.data, found.error) == (b"", error)
