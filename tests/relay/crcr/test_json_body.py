"""Which bodies are JSON that can be kept."""

from __future__ import annotations

import json

import pytest

from relay.crcr.callback import CallbackRefusedError
from relay.crcr.json_body import decode


def test_an_empty_body_is_an_empty_object() -> None:
    """So that what is missing is named."""
    assert decode(b"") == {}


@pytest.mark.parametrize(
    "raw",
    [
        b"{",
        b"nope",
        b"\xff\xfe\xfd",
        b'{"a": NaN}',
        b"[Infinity]",
        b"[-Infinity]",
        b"[1e999]",
        b"[" * 100_000,
        b"9" * 5_000,
        b"[9223372036854775808]",
    ],
)
def test_what_cannot_be_written_down_again_is_not_json(raw: bytes) -> None:
    """Numbers without end, words that are none, and depths beyond the stack included."""
    with pytest.raises(CallbackRefusedError) as caught:
        decode(raw)
    assert caught.value.status == 400
    assert "Invalid JSON body" in str(caught.value.detail)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_the_depth_is_bounded(opening: str, closing: str) -> None:
    """At the same depth for lists and objects; the leaf counts for nothing."""
    assert decode((opening * 64 + "1" + closing * 64).encode()) is not None
    with pytest.raises(CallbackRefusedError):
        decode((opening * 66 + "1" + closing * 66).encode())


def test_what_is_taken_can_be_written_down_again() -> None:
    """Half characters, which JSON may hold, included."""
    raw = rb'{"a": "\ud800", "b": 1.5e300, "c": [true, null, 9223372036854775807, -9223372036854775807]}'
    assert json.loads(json.dumps(decode(raw))) == json.loads(raw)
