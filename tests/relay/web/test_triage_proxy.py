"""The triage proxy against a real HTTP server on loopback that plays a good, a bad and a slow model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from fastapi.testclient import TestClient

from relay.settings import RelaySettings
from relay.views import ApiError
from relay.web.body_cap import BODY_CAPS
from relay.web.triage_proxy import ANSWER_CAP
from tests.conftest import OpenApp

PATH = "/api/v1/worker/triage/chat/completions"
QUESTION = {"model": "the-workers-wish", "messages": [{"role": "user", "content": "top secret diff"}], "stream": True}
ANSWER = {"choices": [{"message": {"content": "{}"}}]}


@dataclass
class Model:
    """What the server answers, and what it was asked."""

    status: int = 200
    body: bytes = json.dumps(ANSWER).encode()
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)
    release: threading.Event = field(default_factory=threading.Event)
    hangs: bool = False
    url: str = ""


@pytest.fixture
def model() -> Iterator[Model]:
    """A model server on a free port."""
    state = Model()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            state.asked.append((self.path, dict(self.headers), json.loads(body)))
            if state.hangs:
                state.release.wait(timeout=60)
                return
            self.send_response(state.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(state.body)))
            self.end_headers()
            self.wfile.write(state.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is the base class's
            """Quiet."""

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                return  # the relay hung up on an answer that was too large

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield state
    state.release.set()
    server.shutdown()
    thread.join(timeout=30)
    server.server_close()


@pytest.fixture
def ask(settings: RelaySettings, open_app: OpenApp, model: Model, worker_auth: dict[str, str]) -> Callable[..., Any]:
    """Ask through a relay that is configured with the model; keyword arguments change its settings."""

    def post(*, question: str = json.dumps(QUESTION), **changes: object) -> Any:
        llm = {"llm_base_url": model.url, "llm_model": "judge-1", "llm_api_key": "k-very-secret"}
        app = open_app(RelaySettings.model_validate({**settings.model_dump(), **llm, **changes}))
        headers = {**worker_auth, "Content-Type": "application/json"}
        return TestClient(app).post(PATH, content=question, headers=headers)

    return post


def _error(response: Any) -> ApiError:
    return ApiError.model_validate_json(response.text)


def test_the_relay_chooses_the_model_and_holds_the_key(ask: Callable[..., Any], model: Model) -> None:
    """Whatever the worker wished; the answer comes back unchanged."""
    response = ask()
    assert (response.status_code, response.json()) == (200, ANSWER)
    path, headers, body = model.asked[0]
    assert path == "/v1/chat/completions"
    assert headers["Authorization"] == "Bearer k-very-secret"
    assert (body["model"], body["stream"], body["messages"]) == ("judge-1", False, QUESTION["messages"])


def test_a_model_without_a_key_is_asked_without_one(ask: Callable[..., Any], model: Model) -> None:
    """The worker's token is not passed on instead."""
    assert ask(llm_api_key=None).status_code == 200
    assert "Authorization" not in model.asked[0][1]


def test_the_other_provider_has_its_own_door_and_headers(
    settings: RelaySettings, open_app: OpenApp, model: Model, worker_auth: dict[str, str]
) -> None:
    """The key goes where that provider wants it, and only one of the doors is open."""
    llm = {"llm_base_url": model.url, "llm_model": "judge-2", "llm_api_key": "k-very-secret"}
    configured = {**settings.model_dump(), **llm, "llm_provider": "anthropic"}
    client = TestClient(open_app(RelaySettings.model_validate(configured)))
    response = client.post(PATH.replace("chat/completions", "messages"), json=QUESTION, headers=worker_auth)
    assert (response.status_code, response.json()) == (200, ANSWER)
    path, headers, body = model.asked[0]
    assert (path, body["model"]) == ("/v1/messages", "judge-2")
    shown = {name.lower(): value for name, value in headers.items()}
    assert (shown["x-api-key"], shown["anthropic-version"]) == ("k-very-secret", "2023-06-01")
    assert "authorization" not in shown
    closed = client.post(PATH, json=QUESTION, headers=worker_auth)
    assert (closed.status_code, _error(closed).code) == (409, "no_model")


@pytest.mark.parametrize(
    "bounds",
    [
        ("max_tokens", 5, 5),
        ("max_tokens", 10**9, 1_000),
        ("max_completion_tokens", "all", 1_000),
        ("max_tokens", -1, 1_000),
    ],
)
def test_a_worker_cannot_ask_for_longer_answers_than_the_settings_allow(
    settings: RelaySettings,
    open_app: OpenApp,
    model: Model,
    worker_auth: dict[str, str],
    bounds: tuple[str, object, int],
) -> None:
    """A worker runs code of strangers, and the answers are paid for."""
    bound, asked, passed_on = bounds
    llm = {"llm_base_url": model.url, "llm_model": "judge-1", "llm_answer_tokens": 1_000}
    app = open_app(RelaySettings.model_validate({**settings.model_dump(), **llm}))
    TestClient(app).post(PATH, json={**QUESTION, bound: asked}, headers=worker_auth)
    assert model.asked[0][2][bound] == passed_on


def test_text_that_utf8_cannot_carry_is_passed_on(ask: Callable[..., Any], model: Model) -> None:
    """Half of a surrogate pair in a question is a question still."""
    broken = {**QUESTION, "messages": [{"role": "user", "content": "\ud800"}]}
    assert ask(question=json.dumps(broken)).status_code == 200
    assert model.asked[0][2]["messages"] == broken["messages"]


@pytest.mark.parametrize("status", [302, 401, 429, 500])
def test_an_error_of_the_model_is_502(ask: Callable[..., Any], model: Model, status: int) -> None:
    """Its text stays where it is: it may quote the key."""
    model.status, model.body = status, b"invalid key k-very-secret"
    response = ask()
    assert (response.status_code, _error(response).code) == (502, "model_failed")
    assert str(status) in _error(response).message
    assert "k-very-secret" not in response.text


@pytest.mark.parametrize("status", [400, 422])
def test_a_request_that_the_model_does_not_take_is_422(ask: Callable[..., Any], model: Model, status: int) -> None:
    """So that the worker asks again without `response_format`, as it would ask the model itself."""
    model.status, model.body = status, b"response_format is not supported, k-very-secret"
    response = ask()
    assert (response.status_code, _error(response).code) == (422, "model_refused")
    assert "k-very-secret" not in response.text


@pytest.mark.parametrize("body", [b"<html>", b"", b"x" * 100, b"\xff\xfe"])
def test_an_answer_that_is_no_json_is_502(ask: Callable[..., Any], model: Model, body: bytes) -> None:
    """Proxies and captive portals answer with pages."""
    model.body = body
    assert ask().status_code == 502


def test_an_answer_over_the_cap_is_502(ask: Callable[..., Any], model: Model) -> None:
    """A model that never stops talking fills no memory."""
    model.body = b'"' + b"x" * ANSWER_CAP + b'"'
    response = ask()
    assert (response.status_code, str(ANSWER_CAP) in _error(response).message) == (502, True)


def test_a_silent_model_is_504(ask: Callable[..., Any], model: Model) -> None:
    """The setting to change is named."""
    model.hangs = True
    response = ask(llm_timeout_s=0.3)
    assert (response.status_code, _error(response).code) == (504, "model_timeout")
    assert "RELAY_LLM_TIMEOUT_S" in _error(response).hint


def test_a_model_that_is_not_there_is_502(ask: Callable[..., Any]) -> None:
    """Nothing listens on the discard port."""
    response = ask(llm_base_url="http://127.0.0.1:9/v1")
    assert (response.status_code, _error(response).code) == (502, "model_failed")
    assert ask(llm_base_url="not a url").status_code == 502


def test_no_model_is_409(client: TestClient, worker_auth: dict[str, str]) -> None:
    """The worker should not have asked: its order says so."""
    response = client.post(PATH, json=QUESTION, headers=worker_auth)
    assert (response.status_code, _error(response).code) == (409, "no_model")


def test_strangers_do_not_spend_our_money(client: TestClient, operator_auth: dict[str, str]) -> None:
    """Only workers may ask."""
    assert client.post(PATH, json=QUESTION).status_code == 401
    assert client.post(PATH, json=QUESTION, headers=operator_auth).status_code == 403


def test_a_question_over_the_cap_is_413(client: TestClient, worker_auth: dict[str, str]) -> None:
    """In the shape of the API."""
    response = client.post(PATH, json={"messages": "x" * BODY_CAPS["/api/v1/worker/triage/"]}, headers=worker_auth)
    assert (response.status_code, _error(response).code) == (413, "too_large")


@pytest.mark.parametrize("body", ["[]", "1", "{", "\x00"])
def test_a_question_that_is_no_object_is_422(client: TestClient, worker_auth: dict[str, str], body: str) -> None:
    """It is not passed on."""
    headers = {**worker_auth, "Content-Type": "application/json"}
    assert client.post(PATH, content=body, headers=headers).status_code == 422


def test_bodies_are_never_logged(
    ask: Callable[..., Any], model: Model, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the question nor the answer, also when things go wrong."""
    caplog.set_level("DEBUG")
    ask()
    model.status, model.body = 500, b"answer in confidence"
    ask()
    captured = capsys.readouterr()
    log = captured.out + captured.err + caplog.text
    assert "triage_model_refused" in log
    for secret in ("top secret diff", "answer in confidence", "k-very-secret"):
        assert secret not in log
