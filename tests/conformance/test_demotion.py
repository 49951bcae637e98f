"""L3 backends that are about to be lowered (rows DM): what is still shown of them, and when that begins and ends."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from relay.crcr.demotions import reconcile
from relay.github.types import GitHubError, OpenPull
from relay.store.crcr_models import Demotion
from tests.conformance.allowlist_stand_in import FIXTURE
from tests.conformance.payloads import callback, pull_request
from tests.conformance.world import World

_BRANCH = "crcr-demotion/a/l3"
_PULL = OpenPull(99, "9" * 40, "2026-11-02T09:00:00Z")
_CHECK = "crcr/a/l3/CI/build"


def _dispatched(world: World) -> None:
    """Pull request 7 is dispatched, with the label that asks for the L3 backend's checks."""
    world.webhook("pull_request", pull_request(labels=("ciflow/crcr/npu",)))
    world.drain()


def _report(world: World, status: str, repo: str = "a/l3") -> None:
    sent = next(one for one in world.github.dispatches if one.repo == repo)
    proof = {"crcr": sent.client_payload["crcr"]}
    assert world.callback(callback(status) | proof, repo=repo).status_code == 200
    world.drain()


def _demote(world: World) -> None:
    world.github.branch_pulls[_BRANCH] = _PULL
    reconcile(world.context)
    world.clock.tick(1)


def _demoted(world: World) -> list[str]:
    with world.session() as session:
        return list(session.scalars(select(Demotion.repo).order_by(Demotion.repo)))


@pytest.mark.row("DM01")
@pytest.mark.parametrize("demoted", [False, True])
def test_a_new_check_of_an_l3_backend(world: World, demoted: bool) -> None:
    if demoted:
        _demote(world)
    _dispatched(world)
    _report(world, "in_progress")
    assert len(world.github.named(_CHECK)) == (0 if demoted else 1)


@pytest.mark.row("DM01")
def test_a_label_shows_nothing_new_of_a_demoted_backend(world: World) -> None:
    """The job began before the demotion, its check would be new all the same."""
    world.webhook("pull_request", pull_request())
    world.drain()
    _report(world, "in_progress")
    _demote(world)
    world.webhook("pull_request", pull_request("labeled", label={"name": "ciflow/crcr/npu"}), delivery="d2")
    world.drain()
    _report(world, "completed")
    assert world.github.named(_CHECK) == []


@pytest.mark.row("DM02")
def test_a_check_that_was_there_before_is_finished(world: World) -> None:
    _dispatched(world)
    _report(world, "in_progress")
    world.clock.tick(1)
    _demote(world)
    _report(world, "completed")
    (shown,) = world.github.named(_CHECK)
    assert (shown.check.status, shown.check.conclusion) == ("completed", "success")


@pytest.mark.row("DM02")
def test_a_job_that_began_after_the_demotion_is_not_shown_at_its_end_either(world: World) -> None:
    _demote(world)
    _dispatched(world)
    _report(world, "in_progress")
    _report(world, "completed")
    assert world.github.checks == {}


@pytest.mark.row("DM03")
@pytest.mark.parametrize(("repo", "checks"), [("a/l4", 1), ("a/l2", 0)])
def test_other_levels_are_never_suppressed(world: World, repo: str, checks: int) -> None:
    """Also when a pull request of such a name is open; an unknown repository is not even looked up."""
    world.github.branch_pulls |= {f"crcr-demotion/{name}": _PULL for name in ("a/l4", "a/l2", "no/body")}
    reconcile(world.context)
    _dispatched(world)
    _report(world, "in_progress", repo=repo)
    assert _demoted(world) == []
    assert len(world.github.named(f"crcr/{repo}/CI/build")) == checks
    assert {branch for method, branch in world.github.calls if method == "open_pull_from"} == {_BRANCH}


@pytest.mark.row("DM04")
def test_each_repository_is_judged_by_itself(world: World) -> None:
    """Open: set. Closed: cleared. Not to be looked up: as it was, demoted or not."""
    world.allowlist.text = "L3:\n  npu:\n    a/open: [x]\n    a/closed: [x]\n    a/error: [x]\n    a/never: [x]\n"
    for name in ("a/closed", "a/error"):
        world.github.branch_pulls[f"crcr-demotion/{name}"] = _PULL
    reconcile(world.context)
    assert _demoted(world) == ["a/closed", "a/error"]
    world.github.branch_pulls = {"crcr-demotion/a/open": _PULL}
    for name in ("a/error", "a/never"):
        unreachable = GitHubError("Service Unavailable", status=503)
        world.github.refusals["open_pull_from", f"crcr-demotion/{name}"] = unreachable
    reconcile(world.context)
    assert _demoted(world) == ["a/error", "a/open"]


def test_a_github_that_does_not_answer_is_not_waited_for_again_and_again(world: World) -> None:
    """Nor is it asked any more by a pass that is to stop. The next pass learns the rest."""
    world.allowlist.text = "L3:\n  npu:\n    a/one: [x]\n    a/two: [x]\n    a/three: [x]\n"
    for name in ("a/one", "a/two", "a/three"):
        world.github.branch_pulls[f"crcr-demotion/{name}"] = _PULL
    world.github.fail("open_pull_from", GitHubError("no answer"))
    reconcile(world.context)
    assert (_demoted(world), len(world.github.calls)) == ([], 1)
    left = iter((False,))
    reconcile(world.context, lambda: next(left, True))
    assert len(_demoted(world)) == 1
    reconcile(world.context)
    assert _demoted(world) == ["a/one", "a/three", "a/two"]


@pytest.mark.row("DM05")
def test_while_a_demotion_goes_on_the_list_is_not_asked_for(world: World) -> None:
    _demote(world)
    world.clock.tick(600)
    before = _since(world)
    reconcile(world.context)
    assert world.allowlist.refreshes == 0
    assert _since(world) == before


@pytest.mark.row("DM06")
def test_when_a_demotion_ends_the_list_is_asked_for_first(world: World) -> None:
    """So that the new level, if there is one, is in force before anything of the backend is shown again."""
    _demote(world)
    del world.github.branch_pulls[_BRANCH]
    world.allowlist.text = FIXTURE.replace("L3:\n  npu:\n    a/l3: [x]\n", "").replace("- a/l2\n", "- a/l2\n  - a/l3\n")
    reconcile(world.context)
    assert world.allowlist.refreshes == 1
    assert _demoted(world) == []
    _dispatched(world)
    _report(world, "in_progress")
    assert world.github.named(_CHECK) == []


@pytest.mark.row("DM07")
@pytest.mark.parametrize("fault", ["problem", "unavailable"])
def test_without_a_newer_list_a_demotion_stays(world: World, fault: str) -> None:
    _demote(world)
    del world.github.branch_pulls[_BRANCH]
    if fault == "problem":
        world.allowlist.problem = "the allowlist cannot be fetched: 503"
    else:
        world.allowlist.text = None
    reconcile(world.context)
    assert _demoted(world) == ["a/l3"]


def _since(world: World) -> object:
    with world.session() as session:
        return session.scalar(select(Demotion.since))
