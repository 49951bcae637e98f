"""A request that GitHub's description does not allow fails the test that makes it."""

from __future__ import annotations

from collections.abc import Callable

import httpx
import pytest

from relay.devgithub import UNDESCRIBED
from tests.github.client import BACKEND, HEAD, UPSTREAM, GitHubClient
from tests.github.serving import serve_devgithub

DISPATCH = f"/repos/{BACKEND}/dispatches"
CHECKS = f"/repos/{UPSTREAM}/check-runs"
CHECK = {"name": "crcr/acme/backend/ci/test", "head_sha": HEAD}

WRONG: dict[str, tuple[str, str, dict[str, object] | None, str]] = {
    "a path GitHub has not": ("POST", f"/repos/{BACKEND}/dispatch", {"event_type": "push"}, "no such operation"),
    "a method GitHub has not": ("PUT", DISPATCH, {"event_type": "push"}, "no such operation"),
    "a trailing slash": ("POST", f"{DISPATCH}/", {"event_type": "push"}, "no such operation"),
    "an absent field": ("POST", DISPATCH, {"client_payload": {}}, "'event_type' is a required property"),
    "a misspelt field": ("POST", DISPATCH, {"event_type": "push", "payload": {}}, "no field payload"),
    "a field of another kind": ("POST", DISPATCH, {"event_type": "push", "client_payload": "{}"}, "client_payload"),
    "too many properties": (
        "POST",
        DISPATCH,
        {"event_type": "push", "client_payload": {str(number): 1 for number in range(11)}},
        "client_payload",
    ),
    "no body": ("POST", DISPATCH, None, "body is missing"),
    "an unknown conclusion": ("POST", CHECKS, {**CHECK, "status": "completed", "conclusion": "passed"}, "conclusion"),
    "a misspelt field inside": ("POST", CHECKS, {**CHECK, "output": {"title": "x", "summary": "y", "txt": ""}}, "txt"),
    "an output without summary": ("POST", CHECKS, {**CHECK, "output": {"title": "x"}}, "summary"),
    "a misspelt field of an item": (
        "POST",
        CHECKS,
        {**CHECK, "actions": [{"label": "a", "description": "b", "identifier": "c", "name": "d"}]},
        "no field name",
    ),
    "a time without zone": ("POST", CHECKS, {**CHECK, "started_at": "2026-11-30 08:00:00"}, "started_at"),
    "a body where none is": ("POST", f"/repos/{BACKEND}/actions/runs/1/cancel", {"force": True}, "no body"),
    "an id that is no number": ("GET", f"/repos/{BACKEND}/actions/runs/latest", None, "run_id"),
    "an unknown parameter": ("GET", f"/repos/{UPSTREAM}/pulls?pagesize=100", None, "no query parameter pagesize"),
    "a parameter's unknown value": ("GET", f"/repos/{UPSTREAM}/pulls?state=opened", None, "state"),
}


def ask(request: Callable[[httpx.Client], httpx.Response], answers: list[httpx.Response]) -> None:
    """A request against a fresh local GitHub, as a test would make it."""
    with serve_devgithub() as served, httpx.Client(base_url=served.url, trust_env=False) as client:
        app = served.state.add_app()
        for name in (UPSTREAM, BACKEND):
            served.state.add_repository(name, app=app)
        answers.append(request(client))


def complaint_of(request: Callable[[httpx.Client], httpx.Response]) -> tuple[httpx.Response, str]:
    """The answer to a request, and what its test failed with."""
    answers: list[httpx.Response] = []
    with pytest.raises(AssertionError, match="not as GitHub describes it") as failure:
        ask(request, answers)
    return answers[0], str(failure.value)


@pytest.mark.parametrize("what", WRONG)
def test_fails_the_test_that_sends(what: str) -> None:
    method, path, body, said = WRONG[what]
    answer, complaint = complaint_of(lambda client: client.request(method, path, json=body))
    assert answer.status_code == UNDESCRIBED
    assert said in complaint
    assert said in answer.json()["message"]


def test_fails_the_test_that_sends_json_under_another_type() -> None:
    body = b'{"event_type": "push"}'
    answer, complaint = complaint_of(lambda client: client.post(DISPATCH, content=body))
    assert answer.status_code == UNDESCRIBED
    assert "not application/json" in complaint


def test_an_allowed_request_passes(client: GitHubClient) -> None:
    body = {"event_type": "pull_request", "client_payload": {"delivery_id": "d", "payload": {"any": ["thing", None]}}}
    assert client.request("POST", BACKEND, "/dispatches", json=body).status_code == 204
    assert client.request("POST", BACKEND, "/dispatches", json={"event_type": "push"}).status_code == 204
