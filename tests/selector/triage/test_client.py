"""The client of a model ends in time, in bounds, and without showing its key."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import httpx
import pytest

from selector.triage.client import OpenAiClient
from selector.triage.conversation import ChatMessage, LlmError, Request, Said, ToolSpec
from selector.triage.posting import ANSWER_CAP

KEY = "key-that-nobody-may-see"
MESSAGES: tuple[ChatMessage, ...] = ({"role": "user", "content": "question"},)
Handler = Callable[[httpx.Request], httpx.Response]


def completion(content: object, finish_reason: str = "stop") -> httpx.Response:
    choice = {"message": {"role": "assistant", "content": content}, "finish_reason": finish_reason}
    return httpx.Response(200, json={"choices": [choice]})


@contextmanager
def client(handler: Handler) -> Iterator[OpenAiClient]:
    made = OpenAiClient("http://model.invalid/v1/", "m-1", KEY, 5.0, transport=httpx.MockTransport(handler))
    yield made
    made.close()


def ask(handler: Handler) -> str:
    with client(handler) as model:
        return model.complete(MESSAGES, {"type": "object"})


@contextmanager
def server(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A loopback server that hands its one connection to `answer`, and the base URL of it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            connection, _ = listening.accept()
            with connection:
                answer(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        thread.join(timeout=30)
        assert not thread.is_alive()


def test_the_request_is_the_interfaces() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return completion("the answer")

    assert ask(handler) == "the answer"
    body = json.loads(seen[0].content)
    assert str(seen[0].url) == "http://model.invalid/v1/chat/completions"
    assert seen[0].headers["authorization"] == f"Bearer {KEY}"
    assert (body["model"], body["temperature"], body["messages"]) == ("m-1", 0, list(MESSAGES))
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}


def test_a_server_that_knows_no_response_format_is_asked_without() -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(400) if b"response_format" in request.content else completion("plain")

    assert ask(handler) == "plain"


def test_a_model_that_reasons_is_asked_in_its_own_form() -> None:
    seen: list[dict[str, object]] = []

    def handler(request: httpx.Request) -> httpx.Response:
        body = json.loads(request.content)
        seen.append(body)
        return httpx.Response(400) if "max_tokens" in body or "temperature" in body else completion("thought")

    with client(handler) as model:
        request = Request((Said("user", "q"),), (ToolSpec("t", "d", {}),), {}, 500, 5.0)
        assert model.converse(request).text == "thought"
    assert (len(seen), seen[-1]["max_completion_tokens"]) == (2, 500)


@pytest.mark.parametrize(
    ("response", "message"),
    [
        (httpx.Response(500, text="secret stack"), "model answered HTTP 500"),
        (httpx.Response(400), "model answered HTTP 400"),
        (httpx.Response(504), "model timed out"),
        (httpx.Response(302, headers={"location": "http://elsewhere.invalid"}), "model answered HTTP 302"),
        (httpx.Response(200, text="<html>garbage"), "model answer has no message"),
        (httpx.Response(200, text="[" * 100_000), "model answer has no message"),
        (httpx.Response(200, json={"choices": []}), "model answer has no message"),
        (httpx.Response(200, json=[1]), "model answer has no message"),
        (httpx.Response(200, json={"choices": ["x"]}), "model answer has no message"),
        (completion(None), "model answer has no text"),
        (completion('{"verdicts": [', finish_reason="length"), "model answer cut off"),
        (completion("x" * ANSWER_CAP), "model answer too long"),
    ],
)
def test_every_bad_answer_is_a_short_error(response: httpx.Response, message: str) -> None:
    with pytest.raises(LlmError) as raised:
        ask(lambda _: response)
    assert str(raised.value) == message


def test_an_endless_answer_is_cut() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 65_536

    with pytest.raises(LlmError, match="too long"):
        ask(lambda _: httpx.Response(200, content=endless()))


def test_a_server_that_never_answers_is_left_in_time() -> None:
    with server(_until_closed) as url:
        model = OpenAiClient(url, "m", KEY, 0.2)
        with pytest.raises(LlmError, match="model timed out"):
            model.complete(MESSAGES, {})
        model.close()


def test_a_server_that_drips_is_left_in_time() -> None:
    def drip(connection: socket.socket) -> None:
        connection.recv(65_536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
        try:
            while True:
                connection.sendall(b" ")
                time.sleep(0.02)  # the pace of the drip, well below the client's timeout for one wait
        except OSError:
            return

    with server(drip) as url:
        model = OpenAiClient(url, "m", KEY, 0.5)
        with pytest.raises(LlmError, match="model timed out"):
            model.complete(MESSAGES, {})
        model.close()


def _until_closed(connection: socket.socket) -> None:
    while connection.recv(65_536):
        pass


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "nonsense", "http://[broken", "ftp://127.0.0.1/v1"])
def test_a_model_that_is_not_there_is_an_error(url: str) -> None:
    model = OpenAiClient(url, "m", KEY, 1.0)
    with pytest.raises(LlmError, match="model not reachable"):
        model.complete(MESSAGES, {})
    model.close()


def test_the_key_is_shown_nowhere() -> None:
    with client(lambda _: httpx.Response(401, text=KEY)) as model:
        assert KEY not in repr(model)
        with pytest.raises(LlmError) as raised:
            model.complete(MESSAGES, {})
        assert KEY not in str(raised.value)
