"""The routes that GitHub has not: people's deeds, a backend's runs, tokens of jobs."""

from __future__ import annotations

import httpx
import jwt
import pytest

from relay.devgithub import App
from relay.devgithub.oidc import AUDIENCE
from tests.github.client import BACKEND, BASE, HEAD, NEXT, UPSTREAM, GitHubClient
from tests.github.serving import ServedGitHub

PULLS = f"/_dev/repos/{UPSTREAM}/pulls"


def deed(client: GitHubClient, name: str, value: str = "") -> httpx.Response:
    return client.anonymous("POST", f"{PULLS}/1", json={"deed": name, "value": value})


def test_a_pull_request_lives_its_life(client: GitHubClient, served: ServedGitHub, app: App) -> None:
    """Each deed tells how the relay took the event."""
    app.webhook_url = "http://127.0.0.1:1/"
    opened = client.anonymous("POST", PULLS, json={"head": HEAD, "labels": ["a"]})
    assert (opened.status_code, opened.json()["number"], opened.json()["head_sha"]) == (201, 1, HEAD)
    assert opened.json()["deliveries"][0]["status_code"] == 502
    deeds = [("synchronize", NEXT), ("label", "b"), ("unlabel", "a"), ("edit", "T"), ("close", ""), ("reopen", "")]
    actions = [deed(client, *each).json()["deliveries"][0]["action"] for each in [*deeds, ("merge", "")]]
    assert actions == ["synchronize", "labeled", "unlabeled", "edited", "closed", "reopened", "closed"]
    pull = served.state.repository(UPSTREAM).pulls[1]
    assert (pull.head_sha, pull.labels, pull.title, pull.merge_commit_sha) == (NEXT, ["b"], "T", NEXT)
    pushed = client.anonymous(
        "POST", f"/_dev/repos/{UPSTREAM}/pushes", json={"ref": "refs/heads/main", "before": BASE, "after": NEXT}
    )
    assert pushed.json()["deliveries"][0]["event"] == "push"


@pytest.mark.parametrize(
    ("name", "value", "status"),
    [("label", "", 422), ("synchronize", "", 422), ("fly", "", 422), ("reopen", "", 422)],
)
def test_a_deed_that_makes_no_sense_is_refused(client: GitHubClient, name: str, value: str, status: int) -> None:
    client.anonymous("POST", PULLS, json={"head": HEAD})
    assert deed(client, name, value).status_code == status


def test_what_is_not_there_cannot_be_steered(client: GitHubClient) -> None:
    for path, body in {
        f"{PULLS}/9": {"deed": "close"},
        "/_dev/repos/no/such/pulls": {"head": HEAD},
        f"/_dev/repos/{UPSTREAM}/check-runs/9/rerequest": {},
        f"/_dev/repos/{UPSTREAM}/check-suites/9/rerequest": {},
        f"/_dev/repos/{BACKEND}/runs/9": {"status": "queued"},
    }.items():
        assert client.anonymous("POST", path, json=body).status_code == 404, path


def test_a_web_page_cannot_steer_it(client: GitHubClient) -> None:
    """What a browser sends to a foreign address without asking first is no JSON."""
    body = b'{"head": "' + HEAD.encode() + b'"}'
    answer = client.anonymous("POST", PULLS, content=body, headers={"Content-Type": "text/plain"})
    assert answer.status_code == 422


def test_a_backend_is_played(client: GitHubClient, served: ServedGitHub) -> None:
    client.request("POST", BACKEND, "/dispatches", json={"event_type": "push", "client_payload": {"a": 1}})
    overview = client.anonymous("GET", "/_dev/state").json()
    (dispatch,) = overview["dispatches"]
    assert (dispatch["repository"], dispatch["client_payload"]) == (BACKEND, {"a": 1})
    path = f"/_dev/repos/{BACKEND}/runs/{dispatch['run_id']}"
    moved = client.anonymous("POST", path, json={"status": "completed", "conclusion": "success"})
    assert moved.json()["conclusion"] == "success"
    assert client.anonymous("POST", path, json={"status": "completed"}).status_code == 422


def test_a_job_gets_a_token_that_the_keys_open(client: GitHubClient, served: ServedGitHub) -> None:
    """Of its run and attempt; the key set is where the configuration says."""
    client.request("POST", BACKEND, "/dispatches", json={"event_type": "push"})
    run_id = served.state.dispatches[0].run_id
    answer = client.anonymous("GET", "/_dev/token", params={"repository": BACKEND.upper(), "run_id": run_id})
    token = answer.json()["value"]
    configuration = client.anonymous("GET", "/.well-known/openid-configuration").json()
    assert configuration["issuer"] == served.url
    key = jwt.PyJWKClient(configuration["jwks_uri"]).get_signing_key_from_jwt(token)
    claims = jwt.decode(token, key, algorithms=["RS256"], audience=AUDIENCE, issuer=served.url)
    assert (claims["repository"], claims["run_id"], claims["run_attempt"]) == (BACKEND, str(run_id), "1")
    assert client.anonymous("GET", "/_dev/token", params={"repository": "no/such"}).status_code == 404
    assert client.anonymous("GET", "/_dev/token", params={"repository": BACKEND, "run_id": 99}).status_code == 404
