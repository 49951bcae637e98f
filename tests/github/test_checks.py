"""Check runs over HTTP: created, updated, listed; and the events that tell of them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from relay.devgithub import App, MemorySource, RefusedError, Repository, rerequest_check_run, rerequest_suite
from relay.devgithub.checks import create_check_run
from relay.devgithub.sources import Commit
from tests.github.client import BASE, HEAD, UPSTREAM, GitHubClient
from tests.github.serving import ServedGitHub

NAME = "crcr/acme/backend/ci/test"


@pytest.fixture
def upstream(served: ServedGitHub, app: App) -> Repository:
    """The upstream with two commits."""
    repository = served.state.repository(UPSTREAM)
    assert isinstance(repository.source, MemorySource)
    for sha in (HEAD, BASE):
        repository.source.add(Commit(sha))
    return repository


def create(client: GitHubClient, **fields: Any) -> httpx.Response:
    return client.request("POST", UPSTREAM, "/check-runs", json={"name": NAME, "head_sha": HEAD} | fields)


def test_a_check_run_goes_its_way(client: GitHubClient, upstream: Repository) -> None:
    made = create(
        client,
        status="in_progress",
        external_id="5:7",
        details_url="https://example.org/run",
        started_at="2026-03-01T12:00:00Z",
        output={"title": "In progress", "summary": "a line"},
    ).json()
    assert (made["status"], made["conclusion"], made["completed_at"]) == ("in_progress", None, None)
    assert made["started_at"] == "2026-03-01T12:00:00Z"
    path = f"/check-runs/{made['id']}"
    done = client.request("PATCH", UPSTREAM, path, json={"conclusion": "failure"}).json()
    assert (done["status"], done["conclusion"]) == ("completed", "failure")
    assert (done["external_id"], done["output"]["summary"]) == ("5:7", "a line")
    assert done["completed_at"] is not None
    assert client.request("GET", UPSTREAM, path).json() == done
    again = client.request("PATCH", UPSTREAM, path, json={"status": "in_progress"}).json()
    assert (again["status"], again["conclusion"], again["completed_at"]) == ("in_progress", None, None)


def test_a_suite_holds_one_apps_runs_on_one_commit(client: GitHubClient, upstream: Repository) -> None:
    first, second, other = create(client), create(client, name="b"), create(client, head_sha=BASE)
    suites = [each.json()["check_suite"]["id"] for each in (first, second, other)]
    assert suites[0] == suites[1] != suites[2]


def test_a_suite_is_listed_page_by_page(client: GitHubClient, upstream: Repository) -> None:
    suite = {create(client, name=f"check {number}").json()["check_suite"]["id"] for number in range(5)}.pop()
    names: list[str] = []
    for page in (1, 2, 3):
        answer = client.request("GET", UPSTREAM, f"/check-suites/{suite}/check-runs?per_page=2&page={page}")
        assert answer.json()["total_count"] == 5
        names += [each["name"] for each in answer.json()["check_runs"]]
    assert sorted(names) == [f"check {number}" for number in range(5)]
    assert "next" not in answer.links
    assert answer.links["prev"]["url"].endswith("per_page=2&page=2")


def test_the_newest_of_a_name_is_listed_unless_all_are_wanted(client: GitHubClient, upstream: Repository) -> None:
    """What lists show by default is what the pull request's page shows."""
    for _ in range(2):
        newest = create(client, conclusion="success").json()["id"]
    create(client, name="other")
    for path in (f"/commits/{HEAD}/check-runs", f"/check-suites/{next(iter(upstream.suites))}/check-runs"):
        latest = client.request("GET", UPSTREAM, path).json()
        assert [each["id"] for each in latest["check_runs"] if each["name"] == NAME] == [newest]
        every = client.request("GET", UPSTREAM, f"{path}?filter=all&check_name={NAME}").json()
        assert every["total_count"] == 2
        assert client.request("GET", UPSTREAM, f"{path}?status=queued").json()["total_count"] == 1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"head_sha": "e" * 40}, "No commit found"),
        ({"status": "completed"}, '"conclusion" wasn\'t supplied'),
        ({"output": {"title": "x", "summary": "ä" * 40_000}}, "65535"),
    ],
)
def test_what_github_refuses_is_refused(
    client: GitHubClient, upstream: Repository, fields: dict[str, Any], said: str
) -> None:
    refused = create(client, **fields)
    assert refused.status_code == 422
    assert said in refused.json()["message"]
    assert upstream.checks == {}


def test_a_check_run_is_its_apps_own(client: GitHubClient, served: ServedGitHub, upstream: Repository) -> None:
    stranger = served.state.add_app("stranger")
    served.state.install(stranger, UPSTREAM)
    made = create_check_run(served.state, upstream, stranger, {"name": "x", "head_sha": HEAD})
    refused = client.request("PATCH", UPSTREAM, f"/check-runs/{made.id}", json={"status": "queued"})
    assert refused.status_code == 403
    assert client.request("PATCH", UPSTREAM, "/check-runs/999", json={"status": "queued"}).status_code == 404


def test_pressing_rerun_tells_the_checks_app(
    client: GitHubClient, served: ServedGitHub, app: App, upstream: Repository
) -> None:
    """And no other app on the repository."""
    other = served.state.add_app("other", webhook_url="http://127.0.0.1:1/")
    served.state.install(other, UPSTREAM)
    check = create(client, conclusion="failure", external_id="5:7").json()
    app.webhook_url = "http://127.0.0.1:1/"
    deliveries = rerequest_check_run(served.state, UPSTREAM, check["id"])
    deliveries += rerequest_suite(served.state, UPSTREAM, check["check_suite"]["id"])
    assert [(each.app, each.event, each.action) for each in deliveries] == [
        (app, "check_run", "rerequested"),
        (app, "check_suite", "rerequested"),
    ]
    for kind, number in (("check_run", 999), ("check_suite", 999)):
        press = rerequest_check_run if kind == "check_run" else rerequest_suite
        with pytest.raises(RefusedError, match="Not Found"):
            press(served.state, UPSTREAM, number)
