"""Answers from outside are bounded in length and time, over a real socket where that matters."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from relay import outgoing
from relay.outgoing import Answer, AnswerTooLongError, ask, open_client


def answer_of(response: httpx.Response, cap: int = 100) -> Answer:
    """What is read of a response."""
    client = open_client("https://x.invalid", timeout_s=1, transport=httpx.MockTransport(lambda _: response))
    return ask(client, client.build_request("GET", "https://x.invalid/"), cap)


def test_an_answer_comes_whole() -> None:
    """Status, headers and body; a redirect is an answer like others."""
    answer = answer_of(httpx.Response(302, json={"a": 1}, headers={"Location": "/b"}))
    assert (answer.status, answer.headers["location"], answer.json()) == (302, "/b", {"a": 1})
    assert "b" not in repr(answer).removeprefix("Answer")


def test_the_cap_counts_what_comes_out_of_compression() -> None:
    """A small body may unpack into a large one."""
    import gzip

    packed = gzip.compress(b" " * 10_000)
    response = httpx.Response(200, content=packed, headers={"Content-Encoding": "gzip"})
    assert len(packed) < 100
    with pytest.raises(AnswerTooLongError):
        answer_of(response)
    assert answer_of(httpx.Response(200, content=b"x" * 100)).body == b"x" * 100


def test_an_answer_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each piece in time, the whole never: the bound is on the whole."""
    monkeypatch.setattr(outgoing, "WHOLE_ANSWER_S", -1.0)

    def drip() -> Iterator[bytes]:
        while True:
            yield b"."

    with pytest.raises(httpx.ReadTimeout):
        answer_of(httpx.Response(200, content=drip()), cap=10_000)


@pytest.mark.parametrize("body", [b"", b"<html>", b"\xff", b"[" * 100_000])
def test_a_body_that_is_no_json_is_none(body: bytes) -> None:
    """Nesting beyond reason included."""
    assert answer_of(httpx.Response(200, content=body), cap=200_000).json() is None
