"""Tokens: how few are asked for, how little each opens, and what happens when one stops being good."""

from __future__ import annotations

import json
import threading

import pytest

from relay.devgithub import Fault
from relay.github import installations
from relay.github.types import GitHubError
from tests.relay.github.conftest import BACKEND, HEAD, OTHER, UPSTREAM, Scene

MINTING = ["installation", "access_tokens"]


def test_a_token_is_asked_for_once_for_each_repository(scene: Scene) -> None:
    """Whatever the letter case of its name."""
    client = scene.client()
    for repo in (BACKEND, BACKEND, BACKEND.upper(), OTHER):
        client.dispatch(repo, "push", {})
    assert scene.steps() == [*MINTING, "dispatches", "dispatches", "dispatches", *MINTING, "dispatches"]


def test_a_token_opens_its_own_repository_only(scene: Scene) -> None:
    """The smallest one GitHub gives."""
    scene.client().dispatch(BACKEND, "push", {})
    (minting,) = (one for one in scene.asked if one.target.endswith("access_tokens"))
    assert json.loads(minting.body) == {"repositories": ["backend"]}


def test_threads_that_come_together_share_a_token(scene: Scene) -> None:
    """And different repositories do not wait for each other's."""
    client = scene.client()
    start = threading.Barrier(8)
    faults: list[Exception] = []

    def send(repo: str) -> None:
        start.wait(5)
        try:
            client.dispatch(repo, "push", {})
        except GitHubError as error:
            faults.append(error)

    threads = [threading.Thread(target=send, args=((BACKEND, OTHER)[number % 2],)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert faults == []
    assert len(scene.state.dispatches) == 8
    assert scene.steps().count("access_tokens") == 2


def test_a_token_is_renewed_before_it_ends(scene: Scene) -> None:
    """Five minutes before, so that none ends on its way; the installation is not looked up again."""
    client = scene.client()
    client.dispatch(BACKEND, "push", {})
    scene.clock.tick(minutes=54)
    client.dispatch(BACKEND, "push", {})
    assert scene.steps().count("access_tokens") == 1
    scene.clock.tick(minutes=2)
    client.dispatch(BACKEND, "push", {})
    assert scene.steps().count("access_tokens") == 2
    assert scene.steps().count("installation") == 1


def test_a_token_that_github_revoked_is_replaced(scene: Scene) -> None:
    """Within the same call: the caller notices nothing."""
    client = scene.client()
    client.dispatch(BACKEND, "push", {})
    scene.state.tokens.revoke_all()
    client.dispatch(BACKEND, "push", {})
    assert len(scene.state.dispatches) == 2


def test_a_token_that_is_refused_again_and_again_is_an_error(scene: Scene) -> None:
    """Two tries, then the caller hears of it."""
    scene.state.faults.add(Fault("POST", "*/dispatches", times=9, status=401, body={"message": "Bad credentials"}))
    with pytest.raises(GitHubError, match="Bad credentials") as refused:
        scene.client().dispatch(BACKEND, "push", {})
    assert (refused.value.status, scene.state.faults.left) == (401, 7)


def test_an_app_that_was_installed_anew_goes_on(scene: Scene) -> None:
    """The old installation's number is looked up again."""
    client = scene.client()
    client.dispatch(BACKEND, "push", {})
    scene.state.installations.clear()
    scene.state.tokens.revoke_all()
    scene.state.install(scene.app, BACKEND)
    client.dispatch(BACKEND, "push", {})
    assert len(scene.state.dispatches) == 2


def test_an_app_that_was_taken_away_is_said_to_be(scene: Scene) -> None:
    """404, which no waiting mends."""
    client = scene.client()
    client.dispatch(BACKEND, "push", {})
    scene.state.installations.clear()
    scene.state.tokens.revoke_all()
    for _ in range(2):
        with pytest.raises(GitHubError, match=f"not installed on {BACKEND}") as refused:
            client.dispatch(BACKEND, "push", {})
        assert (refused.value.status, refused.value.passing) == (404, False)


@pytest.mark.parametrize("fast_s", [-86_400, -1_800, -400, 0, 400, 1_800, 86_400])
def test_a_wrong_clock_of_ours_costs_one_request(scene: Scene, fast_s: float) -> None:
    """GitHub tells its own with every answer; what is learnt stays."""
    # The answer's Date is the machine's, so GitHub's clock must be it for this test.
    from relay.devgithub.state import utc_now

    scene.clock.at = utc_now()
    client = scene.client(fast_s=fast_s)
    client.dispatch(BACKEND, "push", {})
    client.dispatch(OTHER, "push", {})
    assert len(scene.state.dispatches) == 2
    assert scene.steps().count("installation") - 2 == (0 if abs(fast_s) < 500 and fast_s <= 0 else 1)


FAULTS = {
    "500": Fault(status=500),
    "502": Fault(status=502, body={"message": "Bad gateway"}),
    "rate limit": Fault(status=403, headers={"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "99999999999"}),
    "retry after": Fault(status=429, headers={"Retry-After": "7"}),
    "hangs": Fault(hang_s=30.0),
    "drops": Fault(drop=True),
    "not JSON": Fault(status=200),
}
STEPS = {"installation": "*/installation", "token": "*/access_tokens", "request": "*/check-runs"}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_at_any_step_passes_and_leaves_nothing_broken(scene: Scene, step: str, fault: str) -> None:
    """The error says that another try makes sense, and another try does what was wanted."""
    from relay.github.types import CheckRun

    check = CheckRun("n", HEAD, "in_progress", None, "https://x.invalid/", "1", "In progress", "s")
    # Long enough for a busy machine to make the other requests in.
    client = scene.client(timeout_s=2.0 if fault == "hangs" else 20.0)
    scene.state.faults.add(Fault(**vars(FAULTS[fault]) | {"path": STEPS[step]}))
    with pytest.raises(GitHubError) as failed:
        client.create_check_run(UPSTREAM, check)
    assert failed.value.passing
    assert (failed.value.retry_after_s is not None) is (fault in ("rate limit", "retry after"))
    assert "ghs_" not in failed.value.message
    assert client.create_check_run(UPSTREAM, check) > 0
    assert len(scene.state.repository(UPSTREAM).checks) == 1


def test_githubs_own_rate_limit_says_how_long(scene: Scene) -> None:
    """As its headers tell, by its own clock."""
    from relay.devgithub.state import utc_now

    scene.clock.at = utc_now()
    client = scene.client()
    client.commit_exists(UPSTREAM, HEAD)
    scene.state.rate_limits.limit = 1
    with pytest.raises(GitHubError, match="rate limit exceeded") as refused:
        client.commit_exists(UPSTREAM, HEAD)
    assert refused.value.passing
    assert refused.value.retry_after_s is not None
    assert 3_000 < refused.value.retry_after_s <= 3_600


def test_no_secret_is_in_what_may_be_shown(scene: Scene) -> None:
    """Neither the key nor a token, in any representation."""
    client = scene.client()
    client.dispatch(BACKEND, "push", {})
    (token,) = scene.state.tokens._grants
    shown = f"{client!r} {vars(client)!r} {vars(client._installations)!r}"
    assert token not in shown
    assert "PRIVATE KEY" not in shown


def test_memory_of_repositories_is_bounded(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one not used for longest is asked for anew."""
    monkeypatch.setattr(installations, "REMEMBERED", 1)
    client = scene.client()
    for repo in (BACKEND, OTHER, OTHER, BACKEND):
        client.dispatch(repo, "push", {})
    assert scene.steps().count("access_tokens") == 3
