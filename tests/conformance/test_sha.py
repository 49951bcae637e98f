"""Whether the commit of a scheduled run's report exists upstream (SH): what is asked of GitHub, and how often."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import SecretStr

from relay.devgithub import Commit, DevGitHub, MemorySource
from relay.devgithub.records import Asked
from relay.github.app import GitHubApp
from relay.github.commits import CommitCheck
from relay.github.types import GitHubError
from relay.settings import RelaySettings
from tests.conformance.answering import nothing_happened, results
from tests.conformance.payloads import S1, S2, UPSTREAM, nightly
from tests.conformance.world import World
from tests.github.serving import ServedGitHub, serve_devgithub


@pytest.fixture
def conformance_settings(conformance_settings: RelaySettings) -> RelaySettings:
    """These rows are about the door: nothing is sent on from it."""
    return conformance_settings.model_copy(update={"hud_url": ""})


def told(world: World, sha: str = S1) -> bool:
    """Report of a commit; whether it counts as one."""
    before = len(results(world))
    status = world.callback(nightly(sha, job_name=f"job {len(asked(world))} {before}")).status_code
    assert status in (200, 422)
    world.drain()
    assert len(results(world)) == before + (status == 200)
    return status == 200


def asked(world: World) -> list[str]:
    """The repositories that were asked for a commit."""
    return [repo for method, repo in world.github.calls if method == "commit_exists"]


@pytest.mark.row("SH01")
def test_a_commit_that_exists(world: World) -> None:
    """The upstream repository is asked, not the backend's."""
    world.github.commits[S1] = True
    assert told(world)
    assert asked(world) == [UPSTREAM]


@pytest.mark.row("SH02")
def test_a_commit_that_does_not(world: World) -> None:
    """It is refused and leaves nothing."""
    assert not told(world)
    assert nothing_happened(world)


@pytest.mark.row("SH03")
def test_the_same_commit_is_asked_for_once(world: World) -> None:
    """However many jobs report on it."""
    world.github.commits[S1] = True
    assert [told(world) for _ in range(5)] == [True] * 5
    assert len(asked(world)) == 1


@pytest.fixture
def github() -> Iterator[ServedGitHub]:
    """A local GitHub, held to GitHub's own description."""
    with serve_devgithub(DevGitHub()) as served:
        yield served


@pytest.mark.row("SH04")
def test_two_commits_are_two_questions_with_one_token(github: ServedGitHub, world: World) -> None:
    """The way to the repository is found once."""
    heard: list[str] = []

    def hear(one: Asked) -> tuple[str, ...]:
        heard.append(one.target)
        return ()

    app = github.state.add_app()
    source = MemorySource(commits={S1: Commit(S1)})
    github.state.add_repository(UPSTREAM, app=app, source=source)
    github.state.inspectors.append(hear)
    client = GitHubApp(app.id, SecretStr(app.private_pem), api_url=github.url)
    check = CommitCheck(client, now=world.clock)
    assert [check.exists(UPSTREAM, sha) for sha in (S1, S2)] == [True, False]
    assert [target.rpartition("/")[2] for target in heard] == ["installation", "access_tokens", S1, S2]
    client.close()


@pytest.mark.row("SH05")
def test_a_found_commit_is_forgotten_after_an_hour(world: World) -> None:
    """Then it is asked for anew, and a new answer counts."""
    world.github.commits[S1] = True
    assert told(world)
    del world.github.commits[S1]
    world.clock.tick(3_600)
    assert not told(world)
    assert len(asked(world)) == 2


@pytest.mark.row("SH06")
@pytest.mark.parametrize("status", [500, 502, 503, None])
def test_a_fault_of_githubs_counts_as_found(world: World, status: int | None) -> None:
    """A report must not be lost because GitHub is down; and it is not remembered."""
    world.github.fail("commit_exists", GitHubError("Server Error", status=status))
    assert told(world)
    assert not told(world)


@pytest.mark.row("SH07")
def test_a_rate_limit_counts_as_found(world: World) -> None:
    """It says nothing about the commit either."""
    world.github.fail("commit_exists", GitHubError("API rate limit exceeded", status=403, retry_after_s=600))
    assert told(world)
    assert not told(world)


@pytest.mark.row("SH08")
def test_an_absent_commit_is_not_asked_for_again_at_once(world: World) -> None:
    """Not within five minutes, even if it was pushed meanwhile."""
    assert not told(world)
    world.github.commits[S1] = True
    world.clock.tick(299)
    assert not told(world)
    assert len(asked(world)) == 1


@pytest.mark.row("SH09")
def test_an_absent_commit_is_asked_for_again_after_five_minutes(world: World) -> None:
    """It may have been pushed since."""
    assert not told(world)
    world.github.commits[S1] = True
    world.clock.tick(300)
    assert told(world)
    assert len(asked(world)) == 2


@pytest.mark.row("SH10")
def test_a_found_commit_stays_found_for_its_hour(world: World) -> None:
    """Whatever GitHub would say now."""
    world.github.commits[S1] = True
    assert told(world)
    world.github.commits[S1] = False
    world.clock.tick(3_599)
    assert told(world)
    assert len(asked(world)) == 1
