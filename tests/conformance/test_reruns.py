"""Starting runs of backends again (RR)."""

from __future__ import annotations

from typing import Any

import httpx2 as httpx
import pytest
from pydantic import SecretStr

from relay.devgithub import Commit, DevGitHub, MemorySource
from relay.devgithub.checks import create_check_run
from relay.devgithub.keys import new_private_pem
from relay.github.app import GitHubApp
from relay.github.types import GitHubError, SeenCheckRun
from tests.conformance.payloads import S1, UPSTREAM, pull_request
from tests.conformance.world import World
from tests.github.serving import serve_devgithub

NAME = "crcr/a/l3/CI/build"
SUITE = 9


def repository() -> Any:
    """Upstream, as webhooks show it."""
    return pull_request()["repository"]


def rerequest_check(
    world: World, name: object = NAME, external_id: object = "55:7", action: str = "rerequested"
) -> httpx.Response:
    """Somebody asks for a check to run again (or something else happened to it)."""
    check = {"id": 1, "name": name, "external_id": external_id, "head_sha": S1}
    body = {"action": action, "check_run": check, "repository": repository()}
    return world.webhook("check_run", body, delivery="r1")


def rerequest_suite(world: World, suite: object = ..., action: str = "rerequested") -> httpx.Response:
    """Somebody asks for all checks of a suite to run again."""
    given = {"id": SUITE, "head_sha": S1} if suite is ... else suite
    return world.webhook(
        "check_suite", {"action": action, "check_suite": given, "repository": repository()}, delivery="r1"
    )


def in_suite(world: World, *checks: tuple[str, str]) -> None:
    """The suite has check runs of these names and external ids."""
    world.github.suites[SUITE] = [
        SeenCheckRun(number, name, external_id, "completed", "failure")
        for number, (name, external_id) in enumerate(checks)
    ]


def asked(world: World) -> list[str]:
    """What GitHub was asked for."""
    return [call for call, _ in world.github.calls]


@pytest.mark.row("RR01")
def test_the_failed_jobs_of_the_run_are_started_again(world: World) -> None:
    """Once, however often the webhook comes."""
    for _ in range(2):
        answered = rerequest_check(world)
        assert answered.status_code == 200
        assert (answered.json()["ok"], answered.json()["rerun"]) == (True, ["a/l3"])
    assert world.github.reruns == [("a/l3", 55, "failed")]


@pytest.mark.row("RR02")
def test_a_run_is_found_without_a_pull_request(world: World) -> None:
    """By the whole external id."""
    assert rerequest_check(world, external_id="88888").json()["rerun"] == ["a/l3"]
    assert world.github.reruns == [("a/l3", 88888, "failed")]


@pytest.mark.row("RR03")
def test_a_run_that_is_running_is_told_as_such(world: World) -> None:
    """Nobody did anything wrong."""
    world.github.running.add(("a/l3", 55))
    answered = rerequest_check(world)
    assert answered.status_code == 200
    told = {key: answered.json()[key] for key in ("ok", "rerun", "already_running")}
    assert told == {"ok": True, "rerun": [], "already_running": True}


@pytest.mark.row("RR04")
@pytest.mark.parametrize("name", ["linux-jammy / build", "xcrcr/a/l3/CI/build", "", None])
def test_a_foreign_check_is_ignored(world: World, name: object) -> None:
    """GitHub is not asked anything."""
    answered = rerequest_check(world, name)
    assert (answered.status_code, answered.json()["ignored"], asked(world)) == (200, True, [])


@pytest.mark.row("RR05")
@pytest.mark.parametrize("external_id", ["", None, ":7"])
def test_a_check_without_a_run_is_ignored(world: World, external_id: object) -> None:
    """There is nothing to start."""
    answered = rerequest_check(world, external_id=external_id)
    assert (answered.status_code, answered.json()["ignored"], asked(world)) == (200, True, [])


@pytest.mark.row("RR06")
@pytest.mark.parametrize("action", ["created", "completed", "requested_action"])
def test_other_news_of_a_check_is_ignored(world: World, action: str) -> None:
    """Most of it is our own doing."""
    answered = rerequest_check(world, action=action)
    assert (answered.status_code, answered.json()["ignored"], asked(world)) == (200, True, [])


@pytest.mark.row("RR07")
@pytest.mark.parametrize("repo", ["a/l2", "a/l1", "un/known"])
def test_a_backend_below_l3_is_not_started(world: World, repo: str) -> None:
    """It has no check runs; one of such a name is left from before."""
    answered = rerequest_check(world, f"crcr/{repo}/CI/build").json()
    assert (answered["ignored"], answered["reason"]) == (True, "downstream repo not L3+")
    assert asked(world) == []


@pytest.mark.row("RR08")
def test_a_github_that_refuses_is_told(world: World) -> None:
    """With what it said, and about which backend."""
    world.github.fail("rerun_failed_jobs", GitHubError("Not Found", status=404))
    answered = rerequest_check(world)
    assert answered.status_code == 502
    assert answered.json() == {
        "detail": {"message": "failed to rerun downstream run", "repo": "a/l3", "error": "Not Found"}
    }


@pytest.mark.row("RR08")
def test_a_github_that_fails_for_a_moment_is_asked_again(world: World) -> None:
    """The answer tells of the failure and that it is not the end."""
    world.github.fail("rerun_failed_jobs", GitHubError("Server Error", status=500))
    answered = rerequest_check(world)
    assert answered.status_code == 502
    assert answered.json()["detail"]["queued"] is True
    world.clock.tick(3_600)
    world.drain()
    assert world.github.reruns == [("a/l3", 55, "failed")]


@pytest.mark.row("RR09")
@pytest.mark.parametrize("external_id", ["abc", "0198-uuid:7", "5.5:7", "-1", "0"])
def test_a_run_that_is_no_number_is_ignored(world: World, external_id: str) -> None:
    """It is another CI's, or nobody's."""
    answered = rerequest_check(world, external_id=external_id)
    assert (answered.status_code, answered.json()["ignored"], asked(world)) == (200, True, [])


@pytest.mark.row("RR10")
@pytest.mark.parametrize("name", ["crcr/a/l3", "crcr/a", "crcr/", "crcr//l3/CI"])
def test_a_name_that_is_too_short_is_ignored(world: World, name: str) -> None:
    """Two segments after the prefix name no workflow."""
    assert rerequest_check(world, name).json()["ignored"] is True
    assert asked(world) == []


@pytest.mark.row("RR10")
def test_a_name_of_three_segments_is_long_enough(world: World) -> None:
    """A job's name may be missing."""
    assert rerequest_check(world, "crcr/a/l3/CI").json()["rerun"] == ["a/l3"]


@pytest.mark.row("RR11")
def test_a_suite_starts_each_run_once_and_whole(world: World) -> None:
    """However many of its checks belong to one run."""
    in_suite(world, (f"{NAME}1", "111:7"), (f"{NAME}2", "111:7"), ("crcr/a/l4/CI/build", "222:7"))
    answered = rerequest_suite(world)
    assert answered.status_code == 200
    assert (answered.json()["ok"], answered.json()["rerun"]) == (True, ["a/l3", "a/l4"])
    assert sorted(world.github.reruns) == [("a/l3", 111, "all"), ("a/l4", 222, "all")]
    assert "rerun_failed_jobs" not in asked(world)


@pytest.mark.row("RR12")
@pytest.mark.parametrize("error", [None, GitHubError("Not Found", status=404), GitHubError("no answer")])
def test_a_run_that_does_not_start_keeps_no_other_back(world: World, error: GitHubError | None) -> None:
    """Running already, or refused: it is skipped."""
    in_suite(world, (NAME, "111:7"), ("crcr/a/l4/CI/build", "222:7"))
    if error is None:
        world.github.running.add(("a/l3", 111))
    else:
        world.github.refusals["rerun", "a/l3"] = error
    answered = rerequest_suite(world)
    assert (answered.status_code, answered.json()["rerun"]) == (200, ["a/l4"])
    assert world.github.reruns == [("a/l4", 222, "all")]


@pytest.mark.row("RR13")
def test_a_suite_without_checks_of_ours_starts_nothing(world: World) -> None:
    """Foreign names, no run, too low a level."""
    in_suite(world, ("linux / build", "333"), (NAME, ""), ("crcr/a/l2/CI/build", "444:7"))
    answered = rerequest_suite(world)
    assert (answered.status_code, answered.json()["ok"], answered.json()["rerun"]) == (200, True, [])
    assert world.github.reruns == []


@pytest.mark.row("RR14")
@pytest.mark.parametrize("action", ["completed", "requested"])
def test_other_news_of_a_suite_is_ignored(world: World, action: str) -> None:
    """It is not even listed."""
    answered = rerequest_suite(world, action=action)
    assert (answered.status_code, answered.json()["ignored"], asked(world)) == (200, True, [])


@pytest.mark.row("RR15")
@pytest.mark.parametrize("suite", [None, {}, {"id": None}])
def test_a_suite_without_an_id_is_ignored(world: World, suite: object) -> None:
    """With the reason."""
    answered = rerequest_suite(world, suite).json()
    assert (answered["ignored"], answered["reason"]) == (True, "missing check_suite id")


@pytest.mark.row("RR16")
def test_all_pages_of_a_suite_are_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real client lists 250 check runs of three runs; the last run is on the last page only."""
    pem = new_private_pem()
    with serve_devgithub(DevGitHub(issuer_pem=pem), described=False) as served:
        app = served.state.add_app(private_pem=pem)
        upstream = served.state.add_repository(UPSTREAM, app=app)
        assert isinstance(upstream.source, MemorySource)
        upstream.source.add(Commit(S1, message="Change"))
        for number in range(250):
            run = 111 if number < 120 else 222 if number < 249 else 333
            fields = {"name": f"{NAME}-{number}", "head_sha": S1, "external_id": f"{run}:7", "status": "in_progress"}
            check = create_check_run(served.state, upstream, app, fields)
        client = GitHubApp(app.id, SecretStr(app.private_pem), api_url=served.url)
        monkeypatch.setattr(world.github, "suite_check_runs", client.suite_check_runs)
        answered = rerequest_suite(world, {"id": check.suite.id})
        client.close()
    assert answered.json()["rerun"] == ["a/l3"] * 3
    assert sorted(run for _, run, _ in world.github.reruns) == [111, 222, 333]


@pytest.mark.row("RR17")
@pytest.mark.parametrize("status", [401, 404, 500, None])
def test_without_a_token_for_the_backend_the_reason_is_told(world: World, status: int | None) -> None:
    """It is GitHub's failure, not one of ours."""
    world.github.fail("rerun_failed_jobs", GitHubError("no installation token for a/l3", status=status))
    answered = rerequest_check(world)
    assert answered.status_code == 502
    assert "no installation token" in answered.json()["detail"]["error"]
    assert answered.json()["detail"]["repo"] == "a/l3"
