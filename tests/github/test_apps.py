"""Apps over HTTP: themselves, installations, tokens, deliveries; every answer is held to GitHub's description."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from relay.devgithub import App
from tests.github.client import BACKEND, UPSTREAM, GitHubClient
from tests.github.serving import ServedGitHub


def test_an_app_finds_itself_and_its_installations(client: GitHubClient, app: App) -> None:
    assert client.as_app("GET", "/app").json()["id"] == app.id
    listed = client.as_app("GET", "/app/installations").json()
    assert {each["account"]["login"] for each in listed} == {"upstream", "acme"}
    one = client.as_app("GET", f"/app/installations/{listed[0]['id']}").json()
    assert one == listed[0]
    assert client.as_app("GET", "/app/installations/999").status_code == 404


def test_an_installation_is_found_by_repository(client: GitHubClient, served: ServedGitHub) -> None:
    served.state.add_repository("other/alone")
    assert client.as_app("GET", f"/repos/{BACKEND.upper()}/installation").status_code == 200
    assert client.as_app("GET", "/repos/other/alone/installation").status_code == 404
    assert client.as_app("GET", "/repos/no/such/installation").status_code == 404
    assert client.anonymous("GET", f"/repos/{BACKEND}/installation").status_code == 401
    assert client.request("GET", BACKEND, "/installation").status_code == 401


def test_a_token_opens_what_it_was_asked_for(client: GitHubClient, served: ServedGitHub, app: App) -> None:
    second = served.state.add_repository("acme/second", app=app)
    all_of_it = client.token(BACKEND)
    by_name = client.token(BACKEND, repositories=["backend"], permissions={"contents": "write"})
    by_id = client.token(BACKEND, repository_ids=[second.id])
    body = {"event_type": "push"}
    reached = {
        name: [client.request("POST", repo, "/dispatches", token=token, json=body).status_code for repo in TWO]
        for name, token in (("all", all_of_it), ("name", by_name), ("id", by_id))
    }
    assert reached == {"all": [204, 204], "name": [204, 403], "id": [403, 204]}
    assert client.request("GET", BACKEND, "/actions/runs", token=by_name).status_code == 403


TWO = (BACKEND, "acme/second")


def test_a_token_lives_an_hour_and_says_so(client: GitHubClient) -> None:
    installation = client.as_app("GET", f"/repos/{BACKEND}/installation").json()["id"]
    answer = client.as_app(
        "POST", f"/app/installations/{installation}/access_tokens", json={"repositories": ["backend"]}
    )
    assert answer.status_code == 201
    expires = datetime.fromisoformat(answer.json()["expires_at"])
    assert timedelta(minutes=59) < expires - datetime.now(UTC) <= timedelta(hours=1)
    assert [each["full_name"] for each in answer.json()["repositories"]] == [BACKEND]


@pytest.mark.parametrize(
    "wanted",
    [
        {"repositories": ["nope"]},
        {"repositories": ["backend", "torch"]},
        {"repository_ids": [999]},
        {"permissions": {"administration": "write"}},
        {"permissions": {"pull_requests": "write"}},
    ],
)
def test_no_token_for_more_than_the_installation_has(client: GitHubClient, wanted: dict[str, object]) -> None:
    installation = client.as_app("GET", f"/repos/{BACKEND}/installation").json()["id"]
    answer = client.as_app("POST", f"/app/installations/{installation}/access_tokens", json=wanted)
    assert answer.status_code == 422


def test_another_app_gets_no_token(client: GitHubClient, served: ServedGitHub) -> None:
    installation = client.as_app("GET", f"/repos/{BACKEND}/installation").json()["id"]
    stranger = GitHubClient(served, served.state.add_app("stranger"))
    assert stranger.as_app("POST", f"/app/installations/{installation}/access_tokens").status_code == 404
    stranger.close()


def test_a_token_lists_its_repositories(client: GitHubClient, served: ServedGitHub, app: App) -> None:
    served.state.add_repository("acme/second", app=app)
    token = client.token(BACKEND, repositories=["second"])
    headers = {"Authorization": f"Bearer {token}"}
    listed = client.anonymous("GET", "/installation/repositories", headers=headers).json()
    assert (listed["total_count"], listed["repositories"][0]["name"]) == (1, "second")
    assert client.as_app("GET", "/installation/repositories").status_code == 403


def test_deliveries_are_listed_page_by_page_and_sent_again(
    client: GitHubClient, served: ServedGitHub, app: App
) -> None:
    """The newest first; the next page is where the `Link` header says."""
    app.webhook_url = f"{served.url}/_dev/no-such-page"
    for number in range(5):
        served.state.hooks.send(app, "push", {"number": number}, installation=1, repository=2)
    seen: list[int] = []
    path: str | None = "/app/hook/deliveries?per_page=2"
    while path:
        answer = client.as_app("GET", path)
        seen += [each["id"] for each in answer.json()]
        path = answer.links.get("next", {}).get("url")
        served.state.hooks.send(app, "push", {"number": "new meanwhile"}, installation=1, repository=2)
    assert seen == sorted(set(seen), reverse=True)
    assert len(seen) == 5
    one = client.as_app("GET", f"/app/hook/deliveries/{seen[0]}").json()
    assert (one["status_code"], one["request"]["payload"]) == (501, {"number": 4})
    assert client.as_app("POST", f"/app/hook/deliveries/{seen[0]}/attempts").status_code == 202
    served.state.hooks.wait_idle()
    newest = client.as_app("GET", "/app/hook/deliveries").json()[0]
    assert (newest["guid"], newest["redelivery"]) == (one["guid"], True)
    assert client.as_app("POST", "/app/hook/deliveries/9/attempts").status_code == 404


def test_the_rate_limit_is_told_and_costs_nothing_to_ask(client: GitHubClient) -> None:
    assert client.as_app("GET", "/rate_limit").json()["rate"]["used"] == 0
    used = client.as_app("GET", f"/repos/{UPSTREAM}/installation").headers["x-ratelimit-used"]
    assert used == "1"
    assert client.as_app("GET", "/rate_limit").json()["rate"]["used"] == 1


def test_failed_deliveries_are_listed_apart(client: GitHubClient, served: ServedGitHub, app: App) -> None:
    app.webhook_url = f"{served.url}/.well-known/jwks"  # takes no POST
    served.state.hooks.send(app, "push", {}, installation=1, repository=2)
    served.state.hooks.deliveries[0].status_code = 200
    served.state.hooks.send(app, "push", {}, installation=1, repository=2)
    codes = {
        status: [each["status_code"] for each in client.as_app("GET", f"/app/hook/deliveries?status={status}").json()]
        for status in ("success", "failure")
    }
    assert codes == {"success": [200], "failure": [501]}
