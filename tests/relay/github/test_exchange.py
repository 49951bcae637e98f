"""One request and its answer: what is sent, where redirects may lead, and that every failure is a `GitHubError`."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest

from relay.github.exchange import Exchange
from relay.github.types import GitHubError

API = "https://api.github.invalid"
NOW = datetime(2026, 11, 2, 9, 30, tzinfo=UTC)
Answering = Callable[[httpx.Request], httpx.Response]


class Network:
    """Answers by path; every request is kept."""

    def __init__(self, answers: dict[str, httpx.Response | Exception]) -> None:
        self.answers = answers
        self.requests: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        answer = self.answers[request.url.path]
        if isinstance(answer, Exception):
            raise answer
        return answer


def exchange(answers: dict[str, httpx.Response | Exception], api: str = API) -> tuple[Exchange, Network]:
    """An exchange on these answers."""
    network = Network(answers)
    return Exchange(api, timeout_s=1, transport=httpx.MockTransport(network), now=lambda: NOW), network


def test_a_request_says_who_asks_and_in_which_version() -> None:
    """GitHub refuses requests without a name."""
    made, network = exchange({"/x": httpx.Response(200)})
    made.request("GET", "/x", "Bearer t", query={"page": 2})
    (sent,) = network.requests
    assert sent.headers["user-agent"].startswith("oot-relay/")
    assert sent.headers["x-github-api-version"] == "2022-11-28"
    assert sent.headers["accept"] == "application/vnd.github+json"
    assert (sent.headers["authorization"], sent.url.query) == ("Bearer t", b"page=2")
    assert "content-type" not in sent.headers


def test_an_api_below_a_path_keeps_it() -> None:
    """GitHub Enterprise Server has its API below `/api/v3`."""
    made, network = exchange({"/api/v3/x": httpx.Response(200)}, f"{API}/api/v3/")
    made.request("GET", "/x", "")
    assert [request.url.path for request in network.requests] == ["/api/v3/x"]


@pytest.mark.parametrize(
    "body",
    [{"a": "Größe ☃ \U0001f600"}, {"a": "half \ud83d of one"}, {"a": [None, True, {"b": 1.5}]}, {}],
)
def test_a_body_arrives_as_it_was_given(body: dict[str, object]) -> None:
    """In as few bytes as can be; half a character is spelled out, for UTF-8 has none."""
    made, network = exchange({"/x": httpx.Response(204)})
    made.request("POST", "/x", "", body=body)
    (sent,) = network.requests
    assert json.loads(sent.content) == body
    assert b": " not in sent.content
    assert sent.headers["content-type"] == "application/json"


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_body_that_is_no_json_is_not_sent(number: float) -> None:
    """For good: another try would be the same."""
    made, network = exchange({})
    with pytest.raises(GitHubError, match="cannot be written as JSON") as refused:
        made.request("POST", "/x", "", body={"payload": {"n": number}})
    assert (refused.value.passing, network.requests) == (False, [])


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("target", [f"{API}/new", "/new"])
def test_a_renamed_repository_is_followed(status: int, target: str) -> None:
    """With the same method, body and credential."""
    made, network = exchange(
        {"/old": httpx.Response(status, headers={"Location": target}), "/new": httpx.Response(204)}
    )
    assert made.request("POST", "/old", "Bearer t", body={"a": 1}).status == 204
    last = network.requests[-1]
    assert (last.method, last.url.path, last.content) == ("POST", "/new", b'{"a":1}')
    assert last.headers["authorization"] == "Bearer t"


@pytest.mark.parametrize(
    "target", ["https://rogue.invalid/new", "http://api.github.invalid/new", "//rogue.invalid/new", f"{API}:444/new"]
)
def test_a_redirect_to_another_server_is_refused(target: str) -> None:
    """Our credential and what we send go to GitHub's API and nowhere else."""
    made, network = exchange({"/old": httpx.Response(307, headers={"Location": target})})
    with pytest.raises(GitHubError) as refused:
        made.request("POST", "/old", "Bearer t", body={"a": 1})
    assert (refused.value.status, len(network.requests)) == (307, 1)


def test_redirects_in_a_circle_end() -> None:
    """With the last answer as the refusal."""
    made, network = exchange({"/x": httpx.Response(302, headers={"Location": "/x"})})
    with pytest.raises(GitHubError) as refused:
        made.request("GET", "/x", "")
    assert (refused.value.status, len(network.requests)) == (302, 4)


def test_an_answer_that_was_not_moved_is_never_asked_for_again() -> None:
    """A Location on another status (201 has one) is only information."""
    made, network = exchange({"/x": httpx.Response(201, headers={"Location": f"{API}/y"})})
    assert made.request("POST", "/x", "").status == 201
    assert len(network.requests) == 1


NO_ANSWERS = [
    httpx.ConnectError("refused"),
    httpx.ConnectTimeout(""),
    httpx.ReadTimeout("slow"),
    httpx.WriteError("broken"),
    httpx.PoolTimeout("full"),
    httpx.RemoteProtocolError("cut\noff"),
    httpx.DecodingError("not gzip"),
    httpx.UnsupportedProtocol("x"),
    httpx.Response(200, content=b"x" * (16 * 1024 * 1024 + 1)),
]


@pytest.mark.parametrize("answer", NO_ANSWERS, ids=lambda answer: type(answer).__name__)
def test_no_answer_may_be_one_later(answer: httpx.Response | Exception) -> None:
    """No status, a reason on one line, and sense in another try."""
    made, _ = exchange({"/x": answer})
    with pytest.raises(GitHubError, match=r"no answer to GET /x: .") as failed:
        made.request("GET", "/x", "Bearer secret-token", query={"ref": "main"})
    assert (failed.value.status, failed.value.passing) == (None, True)
    assert failed.value.message.isprintable()
    assert "secret-token" not in failed.value.message


@pytest.mark.parametrize("good", [(200,), (404, 422)])
def test_only_the_statuses_hoped_for_are_answers(good: tuple[int, ...]) -> None:
    """All others are refusals."""
    for status in (200, 304, 404, 422, 500):
        made, _ = exchange({"/x": httpx.Response(status)})
        if status in good:
            assert made.request("GET", "/x", "", good=good).status == status
        else:
            with pytest.raises(GitHubError) as refused:
                made.request("GET", "/x", "", good=good)
            assert refused.value.status == status
