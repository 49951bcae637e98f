"""Dispatches and workflow runs over HTTP."""

from __future__ import annotations

import json

import pytest

from relay.devgithub import App, DevGitHub, RefusedError, move_run
from relay.devgithub.dispatches import EVENT_TYPE_CAP, MOST_PROPERTIES, PAYLOAD_CAP, dispatch
from relay.devgithub.workflow_runs import ALREADY_RUNNING
from relay.github.types import ALREADY_RUNNING as WHAT_THE_RELAY_LOOKS_FOR
from tests.github.client import BACKEND, UPSTREAM, GitHubClient
from tests.github.serving import ServedGitHub

PAYLOAD = {"event_type": "pull_request", "delivery_id": "d", "payload": {"action": "opened"}}


def run_of(client: GitHubClient, run_id: int) -> tuple[str, str | None, int]:
    answer = client.request("GET", BACKEND, f"/actions/runs/{run_id}").json()
    return answer["status"], answer["conclusion"], answer["run_attempt"]


def test_a_dispatch_is_kept_and_starts_a_run(client: GitHubClient, served: ServedGitHub, app: App) -> None:
    body = {"event_type": "pull_request", "client_payload": PAYLOAD}
    answer = client.request("POST", BACKEND, "/dispatches", json=body)
    assert (answer.status_code, answer.content) == (204, b"")
    (kept,) = served.state.dispatches
    assert (kept.repo, kept.event_type, kept.client_payload, kept.app) == (BACKEND, "pull_request", PAYLOAD, app)
    listed = client.request("GET", BACKEND, "/actions/runs?event=repository_dispatch&status=queued").json()
    assert [each["id"] for each in listed["workflow_runs"]] == [kept.run_id]
    assert client.request("GET", BACKEND, "/actions/runs?status=success").json()["total_count"] == 0


def test_a_repository_without_a_workflow_starts_nothing(client: GitHubClient, served: ServedGitHub) -> None:
    served.state.repository(BACKEND).workflow = ""
    assert client.request("POST", BACKEND, "/dispatches", json={"event_type": "push"}).status_code == 204
    assert served.state.dispatches[0].run_id is None
    assert client.request("GET", BACKEND, "/actions/runs").json()["total_count"] == 0


def test_a_dispatch_needs_a_repository_where_the_app_is(client: GitHubClient, served: ServedGitHub) -> None:
    """Where it is not: forbidden when everybody can see it, not found when nobody can."""
    served.state.add_repository("other/public")
    served.state.add_repository("other/hidden", private=True)
    token = client.token(BACKEND)
    answers = {
        repo: client.request("POST", repo, "/dispatches", token=token, json={"event_type": "push"}).status_code
        for repo in ("other/public", "other/hidden", "no/such", UPSTREAM)
    }
    assert answers == {"other/public": 403, "other/hidden": 404, "no/such": 404, UPSTREAM: 403}
    assert client.anonymous("POST", f"/repos/{BACKEND}/dispatches", json={"event_type": "push"}).status_code == 401
    assert served.state.dispatches == []


def payload_of(characters: int) -> dict[str, str]:
    frame = len(json.dumps({"p": ""}, separators=(",", ":")))
    return {"p": "x" * (characters - frame)}


@pytest.mark.parametrize(
    ("event_type", "payload", "accepted"),
    [
        ("x" * EVENT_TYPE_CAP, {}, True),
        ("x" * (EVENT_TYPE_CAP + 1), {}, False),
        ("x", {str(number): 1 for number in range(MOST_PROPERTIES)}, True),
        ("x", {str(number): 1 for number in range(MOST_PROPERTIES + 1)}, False),
        ("x", payload_of(PAYLOAD_CAP), True),
        ("x", payload_of(PAYLOAD_CAP + 1), False),
        ("", {}, False),
        ("x", "text", False),
    ],
)
def test_a_dispatch_has_limits(event_type: str, payload: object, accepted: bool) -> None:
    """At the limit it passes, one beyond it does not. Asked directly: most of these are no requests to GitHub."""
    state = DevGitHub()
    app = state.add_app()
    repository = state.add_repository(BACKEND, app=app)
    body = {"event_type": event_type, "client_payload": payload}
    if accepted:
        dispatch(state, repository, app, body)
    else:
        with pytest.raises(RefusedError) as refused:
            dispatch(state, repository, app, body)
        assert refused.value.status == 422
    assert len(state.dispatches) == accepted
    state.hooks.close()


def test_a_run_is_run_again_when_it_is_over(client: GitHubClient, served: ServedGitHub) -> None:
    client.request("POST", BACKEND, "/dispatches", json={"event_type": "push"})
    run_id = served.state.dispatches[0].run_id
    assert run_id is not None
    for action in ("rerun", "rerun-failed-jobs"):
        refused = client.request("POST", BACKEND, f"/actions/runs/{run_id}/{action}")
        assert refused.status_code == 403
        assert refused.json()["message"].endswith(WHAT_THE_RELAY_LOOKS_FOR)
    assert ALREADY_RUNNING.endswith(WHAT_THE_RELAY_LOOKS_FOR)
    for attempt, action in ((2, "rerun"), (3, "rerun-failed-jobs")):
        move_run(served.state, BACKEND, run_id, "completed", "failure")
        assert client.request("POST", BACKEND, f"/actions/runs/{run_id}/{action}").status_code == 201
        assert run_of(client, run_id) == ("queued", None, attempt)
        assert served.state.repository(BACKEND).runs[run_id].failed_only is (attempt == 3)


def test_a_run_is_cancelled_while_it_runs(client: GitHubClient, served: ServedGitHub) -> None:
    client.request("POST", BACKEND, "/dispatches", json={"event_type": "push"})
    run_id = served.state.dispatches[0].run_id
    assert run_id is not None
    move_run(served.state, BACKEND, run_id, "in_progress")
    assert client.request("POST", BACKEND, f"/actions/runs/{run_id}/cancel").status_code == 202
    assert run_of(client, run_id) == ("completed", "cancelled", 1)
    assert client.request("POST", BACKEND, f"/actions/runs/{run_id}/cancel").status_code == 409


def test_a_run_that_is_not_there_is_not_found(client: GitHubClient) -> None:
    for method, rest in (("GET", ""), ("POST", "/rerun"), ("POST", "/rerun-failed-jobs"), ("POST", "/cancel")):
        assert client.request(method, BACKEND, f"/actions/runs/999{rest}").status_code == 404, rest


def test_a_dispatch_is_heard_by_the_backends_own_app(client: GitHubClient, served: ServedGitHub) -> None:
    """How a backend without a workflow file learns of it: its own app, never the one that dispatched."""
    backend_app = served.state.add_app("backend", webhook_url="http://127.0.0.1:1/", events=("repository_dispatch",))
    served.state.install(backend_app, BACKEND)
    client.request("POST", BACKEND, "/dispatches", json={"event_type": "pull_request", "client_payload": PAYLOAD})
    served.state.hooks.wait_idle()
    (delivery,) = served.state.hooks.deliveries
    event = json.loads(delivery.body)
    assert (delivery.app, delivery.event, event["action"]) == (backend_app, "repository_dispatch", "pull_request")
    assert event["client_payload"] == PAYLOAD


def test_a_run_has_a_conclusion_when_it_is_over_and_only_then(client: GitHubClient, served: ServedGitHub) -> None:
    client.request("POST", BACKEND, "/dispatches", json={"event_type": "push"})
    run_id = served.state.dispatches[0].run_id or 0
    for status, conclusion in (("completed", None), ("in_progress", "success")):
        with pytest.raises(RefusedError, match="conclusion"):
            move_run(served.state, BACKEND, run_id, status, conclusion)
