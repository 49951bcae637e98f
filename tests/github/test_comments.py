"""Comments on pull requests and permissions over HTTP, held to GitHub's description like everything."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from relay.devgithub import App, RefusedError, open_pull, say
from relay.devgithub.comments import BODY_CAP, delete, permit
from tests.github.client import HEAD, UPSTREAM, GitHubClient
from tests.github.description import event_complaints, load_description
from tests.github.serving import ServedGitHub


@pytest.fixture(autouse=True)
def _pull(served: ServedGitHub, app: App) -> None:
    open_pull(served.state, UPSTREAM, head=HEAD)


def written(client: GitHubClient, text: str, number: int = 1) -> int:
    answer = client.request("POST", UPSTREAM, f"/issues/{number}/comments", json={"body": text})
    assert answer.status_code == 201
    return int(answer.json()["id"])


def test_an_app_writes_a_comment_and_edits_it(client: GitHubClient, app: App) -> None:
    made = written(client, "first")
    edited = client.request("PATCH", UPSTREAM, f"/issues/comments/{made}", json={"body": "second"})
    assert edited.status_code == 200
    told = client.request("GET", UPSTREAM, f"/issues/comments/{made}").json()
    assert (told["body"], told["user"]["login"], told["user"]["type"]) == ("second", f"{app.slug}[bot]", "Bot")
    assert told["performed_via_github_app"]["id"] == app.id


def test_comments_are_listed_oldest_first_by_page_and_time(client: GitHubClient, served: ServedGitHub) -> None:
    say(served.state, UPSTREAM, 1, "a person's")
    written(client, "an app's")
    listed = client.request("GET", UPSTREAM, "/issues/1/comments?per_page=1").json()
    rest = client.request("GET", UPSTREAM, "/issues/1/comments?per_page=1&page=2").json()
    assert [each["body"] for each in [*listed, *rest]] == ["a person's", "an app's"]
    assert [each["performed_via_github_app"] is None for each in [*listed, *rest]] == [True, False]
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    assert client.request("GET", UPSTREAM, f"/issues/1/comments?since={later}").json() == []


def test_what_is_not_there_is_not_found(client: GitHubClient, served: ServedGitHub) -> None:
    made = written(client, "soon gone")
    delete(served.state, served.state.repository(UPSTREAM), made)
    for method, rest in (
        ("GET", f"/issues/comments/{made}"),
        ("PATCH", f"/issues/comments/{made}"),
        ("GET", "/issues/9/comments"),
        ("POST", "/issues/9/comments"),
    ):
        body = None if method == "GET" else {"body": "x"}
        assert client.request(method, UPSTREAM, rest, json=body).status_code == 404, rest


@pytest.mark.parametrize(
    ("text", "status"), [("", 422), (" \n", 422), ("x" * (BODY_CAP + 1), 422), ("x" * BODY_CAP, 201)]
)
def test_a_comment_has_a_text_within_bounds(client: GitHubClient, text: str, status: int) -> None:
    assert client.request("POST", UPSTREAM, "/issues/1/comments", json={"body": text}).status_code == status


def test_only_who_may_write_issues_comments(client: GitHubClient, app: App) -> None:
    read_only = client.token(UPSTREAM, permissions={"issues": "read"})
    refused = client.request("POST", UPSTREAM, "/issues/1/comments", token=read_only, json={"body": "x"})
    assert refused.status_code == 403
    assert client.anonymous("POST", f"/repos/{UPSTREAM}/issues/1/comments", json={"body": "x"}).status_code == 401


@pytest.mark.parametrize(
    ("login", "role", "permission"),
    [
        ("boss", "admin", "admin"),
        ("keeper", "maintain", "write"),
        ("writer", "write", "write"),
        ("sorter", "triage", "read"),
        ("anybody", "", "read"),
        ("UPSTREAM", "", "admin"),
        ("maintainer", "", "write"),
    ],
)
def test_permissions_are_told_in_the_older_words(
    client: GitHubClient, served: ServedGitHub, login: str, role: str, permission: str
) -> None:
    if role:
        permit(served.state, UPSTREAM, login.upper(), role)
    told = client.request("GET", UPSTREAM, f"/collaborators/{login}/permission").json()
    assert told["permission"] == permission
    assert not role or told["role_name"] == role
    assert told["user"]["permissions"]["push"] is (permission in ("admin", "write"))


def test_nobody_may_anything_in_a_private_repository(client: GitHubClient, served: ServedGitHub, app: App) -> None:
    served.state.add_repository("acme/hidden", app=app, private=True)
    assert client.request("GET", "acme/hidden", "/collaborators/anybody/permission").json()["permission"] == "none"


def test_comments_of_persons_and_apps_are_told_as_github_describes(
    client: GitHubClient, served: ServedGitHub, app: App
) -> None:
    """An app hears of its own comments as well, and of edits."""
    app.webhook_url = "http://127.0.0.1:1/"
    say(served.state, UPSTREAM, 1, "/relay help", author="someone")
    made = written(client, "an answer")
    client.request("PATCH", UPSTREAM, f"/issues/comments/{made}", json={"body": "another"})
    served.state.hooks.wait_idle()
    told = [(each.event, json.loads(each.body)) for each in served.state.hooks.deliveries]
    assert [list(event_complaints(load_description(), *each)) for each in told] == [[], [], []]
    events = sorted((body["action"], body["sender"]["login"], body["sender"]["type"]) for _, body in told)
    bot = f"{app.slug}[bot]"
    assert events == [("created", bot, "Bot"), ("created", "someone", "User"), ("edited", bot, "Bot")]


def test_a_person_says_something_through_the_steering(client: GitHubClient, served: ServedGitHub) -> None:
    path = f"/_dev/repos/{UPSTREAM}/pulls/1/comments"
    said = client.anonymous("POST", path, json={"body": "/relay help", "author": "someone", "permission": "write"})
    assert said.status_code == 201
    overview = client.anonymous("GET", "/_dev/state").json()
    assert [each["id"] for each in overview["comments"][UPSTREAM]] == [said.json()["id"]]
    assert served.state.repository(UPSTREAM).collaborators["someone"] == "write"
    assert client.anonymous("POST", path.replace("/1/", "/9/"), json={"body": "x"}).status_code == 404
    assert client.anonymous("POST", path, json={"body": "x", "author": "no body"}).status_code == 422


def test_nothing_is_said_without_a_pull_request(served: ServedGitHub) -> None:
    with pytest.raises(RefusedError):
        say(served.state, UPSTREAM, 2, "hello")
