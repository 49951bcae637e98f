"""What stands in front of every route: faults, credentials, the rate limit, GitHub's own ways of saying no."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import httpx
import pytest
from fastapi.routing import APIRoute

from relay.devgithub import Fault, routes_actions, routes_apps, routes_checks, routes_content
from relay.devgithub.gate import Gate
from tests.github.client import BACKEND, UPSTREAM, GitHubClient, app_token
from tests.github.description import load_description
from tests.github.serving import ServedGitHub, serve_devgithub

DISPATCH = {"event_type": "push"}


def test_a_fault_answers_in_githubs_place(client: GitHubClient, served: ServedGitHub) -> None:
    """As often as it says; then GitHub answers. What it stands in front of is not carried out."""
    token = client.token(BACKEND)
    headers = {"Retry-After": "7", "X-RateLimit-Remaining": "0"}
    served.state.faults.add(Fault("POST", "*/dispatches", times=2, status=403, headers=headers, body={"message": "no"}))
    answers = [client.request("POST", BACKEND, "/dispatches", token=token, json=DISPATCH) for _ in range(3)]
    assert [each.status_code for each in answers] == [403, 403, 204]
    assert (answers[0].json(), answers[0].headers["retry-after"]) == ({"message": "no"}, "7")
    assert answers[0].headers["x-ratelimit-remaining"] == "0"
    assert len(served.state.dispatches) == 1
    assert served.state.faults.left == 0


def test_a_performed_fault_spoils_the_answer_only(client: GitHubClient, served: ServedGitHub) -> None:
    """The case in which a client must not conclude that nothing happened."""
    token = client.token(BACKEND)
    served.state.faults.add(Fault("POST", "*/dispatches", status=502, performed=True))
    assert client.request("POST", BACKEND, "/dispatches", token=token, json=DISPATCH).status_code == 502
    assert len(served.state.dispatches) == 1


@pytest.mark.parametrize("performed", [False, True])
def test_a_dropped_connection_is_no_answer(client: GitHubClient, served: ServedGitHub, performed: bool) -> None:
    token = client.token(BACKEND)
    served.state.faults.add(Fault("POST", "*/dispatches", drop=True, performed=performed))
    with pytest.raises(httpx.RemoteProtocolError):
        client.request("POST", BACKEND, "/dispatches", token=token, json=DISPATCH)
    assert len(served.state.dispatches) == performed
    assert client.request("POST", BACKEND, "/dispatches", token=token, json=DISPATCH).status_code == 204


@pytest.mark.parametrize("performed", [False, True])
@pytest.mark.parametrize("spoiled", [{"drop": True}, {"status": 500}, {"hang_s": 0.01}])
def test_nothing_is_answered_before_the_whole_request_is_read(
    served: ServedGitHub, spoiled: dict[str, Any], performed: bool
) -> None:
    """Cut with bytes unread, a connection is reset: now and then the caller would see another fault than was asked."""
    served.state.faults.add(Fault("POST", "*", performed=performed, **spoiled))
    happened: list[str] = []
    pieces = [{"type": "http.request", "body": b"[", "more_body": True}, {"type": "http.request", "body": b"]"}]

    async def receive() -> Any:
        happened.append("received")
        return pieces.pop(0) if pieces else {"type": "http.disconnect"}

    async def send(_message: Any) -> None:
        happened.append("sent")

    async def routes(_scope: Any, _receive: Any, answer: Any) -> None:
        await answer({"type": "http.response.start", "status": 204})

    scope = {"type": "http", "path": "/.well-known/x", "method": "POST", "query_string": b"", "headers": []}
    asyncio.run(Gate(routes, served.state)(scope, receive, send))
    assert happened[:2] == ["received", "received"]
    assert "sent" in happened


def test_a_held_back_answer_ends_with_its_caller(client: GitHubClient, served: ServedGitHub) -> None:
    """A client that gives up leaves nothing behind that a later test would wait for."""
    token = client.token(BACKEND)
    served.state.faults.add(Fault("POST", "*/dispatches", hang_s=60))
    begun = time.monotonic()
    with pytest.raises(httpx.ReadTimeout):
        client.request("POST", BACKEND, "/dispatches", token=token, json=DISPATCH, timeout=0.2)
    assert client.request("POST", BACKEND, "/dispatches", token=token, json=DISPATCH).status_code == 204
    assert time.monotonic() - begun < 30


def test_a_slow_answer_is_given_in_the_end(client: GitHubClient, served: ServedGitHub) -> None:
    token = client.token(BACKEND)
    served.state.faults.add(Fault("POST", "*/dispatches", hang_s=0.05, status=500))
    assert client.request("POST", BACKEND, "/dispatches", token=token, json=DISPATCH).status_code == 500


def test_a_fault_meets_tokens_and_keys_too(client: GitHubClient, served: ServedGitHub) -> None:
    served.state.faults.add(Fault(path="*/access_tokens", status=500))
    with pytest.raises(httpx.HTTPStatusError):
        client.token(BACKEND)
    served.state.faults.add(Fault(path="/.well-known/jwks", status=503))
    assert client.anonymous("GET", "/.well-known/jwks").status_code == 503
    assert client.anonymous("GET", "/.well-known/jwks").status_code == 200


def test_the_rate_limit_is_told_and_kept(client: GitHubClient, served: ServedGitHub) -> None:
    """A refusal says when to come again, and costs the others nothing."""
    token = client.token(BACKEND)
    served.state.rate_limits.limit = 2
    answers = [client.request("GET", BACKEND, "", token=token) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 403]
    assert [each.headers["x-ratelimit-remaining"] for each in answers] == ["1", "0", "0"]
    assert int(answers[2].headers["x-ratelimit-reset"]) > time.time()
    assert "rate limit exceeded" in answers[2].json()["message"]
    assert client.anonymous("GET", f"/repos/{BACKEND}").status_code == 200


def test_anonymous_callers_share_a_small_limit(client: GitHubClient, served: ServedGitHub) -> None:
    served.state.rate_limits.anonymous_limit = 1
    answers = [client.anonymous("GET", f"/repos/{UPSTREAM}").status_code for _ in range(2)]
    assert answers == [200, 403]


def test_a_bad_credential_is_refused_before_anything_else(client: GitHubClient) -> None:
    """Also where none is needed."""
    for header in ("Bearer ghs_nope", "Bearer a.b.c"):
        answer = client.anonymous("GET", f"/repos/{UPSTREAM}", headers={"Authorization": header})
        assert answer.status_code == 401
        assert set(answer.json()) == {"message", "documentation_url", "status"}


def test_a_program_without_a_name_is_refused(client: GitHubClient) -> None:
    for name, status in (("", 403), ("relay", 200)):
        assert client.anonymous("GET", f"/repos/{UPSTREAM}", headers={"User-Agent": name}).status_code == status


def test_an_apps_token_that_is_over_is_refused(client: GitHubClient, served: ServedGitHub) -> None:
    app = next(iter(served.state.apps.values()))
    old = app_token(app, issued=time.time() - 700, life_s=600)
    assert client.anonymous("GET", "/app", headers={"Authorization": f"Bearer {old}"}).status_code == 401


def test_what_is_not_there_is_said_githubs_way() -> None:
    """Asked without the description, which would answer first. No error is another framework's, and what the local
    GitHub cannot do is never said to be absent."""
    with serve_devgithub(described=False) as served, httpx.Client(base_url=served.url, trust_env=False) as http:
        app = served.state.add_app()
        served.state.add_repository(BACKEND, app=app)
        client = GitHubClient(served, app)
        token = {"Authorization": f"Bearer {client.token(BACKEND)}"}
        client.close()
        assert http.get(f"/repos/{BACKEND}/branches").status_code == 501
        assert http.put(f"/repos/{BACKEND}/dispatches").status_code == 501
        ignored = http.get(f"/repos/{BACKEND}/actions/runs?branch=main&event=push", headers=token)
        assert (ignored.status_code, "parameter branch here" in ignored.json()["message"]) == (501, True)
        broken = http.post(f"/repos/{BACKEND}/dispatches", headers=token | JSON, content=b"{")
        assert (broken.status_code, broken.json()["message"]) == (400, "Problems parsing JSON")
        for wrong in (b"[]", b"null", b"1"):
            answer = http.post(f"/repos/{BACKEND}/dispatches", headers=token | JSON, content=wrong)
            assert answer.status_code == 422, wrong
            assert set(answer.json()) == {"message", "documentation_url", "status"}
        assert http.get(f"/repos/{BACKEND}/actions/runs/x").status_code == 422


ROOMS = (routes_apps, routes_actions, routes_checks, routes_content)
JSON = {"Content-Type": "application/json"}


def test_every_route_is_one_that_github_has() -> None:
    """Nothing here can be asked for that the real one would not know."""
    description = load_description()
    filled = {"{path:path}": "a/b.yml", "{ref:path}": "main", "{basehead:path}": "a...b"}
    routes = [route for room in ROOMS for route in room.router.routes if isinstance(route, APIRoute)]
    for route in routes:
        path = route.path
        for parameter, value in filled.items():
            path = path.replace(parameter, value)
        for method in route.methods or ():
            assert description.operation(method, path.replace("{", "").replace("}", "")), (method, route.path)
    assert len(routes) > 20
