"""Back-filling check runs by a label (LB)."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select

from relay.github.types import CheckRun, GitHubError
from relay.store.crcr_models import CheckWish
from tests.conformance.answering import dispatched, report
from tests.conformance.payloads import S1, labeled
from tests.conformance.world import World

LABEL = "ciflow/crcr/npu"
TWO = "L3:\n  npu:\n    a/l3: [x]\n    b/l3: [y]\nL2:\n  - a/l2\n"


def label(world: World, name: str = LABEL, *, deliver: bool = True, **changes: Any) -> dict[str, Any]:
    """The answer to a label on pull request 7, and everything that follows from it."""
    answered = world.webhook("pull_request", labeled(name) | changes, delivery="label-1")
    assert answered.status_code == 200
    if deliver:
        world.drain()
    told: dict[str, Any] = answered.json()
    return told


def shown(world: World) -> list[CheckRun]:
    """The check runs, in the order of their names."""
    return sorted((check.check for check in world.github.checks.values()), key=lambda check: check.name)


def wishes(world: World) -> list[tuple[str, str]]:
    """Whose jobs are to be shown on which commit."""
    with world.session() as session:
        found = session.execute(select(CheckWish.head_sha, CheckWish.repo_key).where(CheckWish.repo_key != "a/l4"))
        return [(row.head_sha, row.repo_key) for row in found]


@pytest.mark.row("LB01")
def test_a_job_in_progress_is_shown(world: World) -> None:
    """On its commit, without a conclusion, found by run and pull request."""
    dispatched(world)
    report(world, repo="a/l3")
    assert label(world)["created_check_runs"] == ["a/l3/build"]
    (check,) = shown(world)
    assert (check.head_sha, check.status, check.conclusion) == (S1, "in_progress", None)
    assert check.external_id == "100:7"


@pytest.mark.row("LB02")
def test_each_job_of_a_run_is_shown(world: World) -> None:
    """Under its own name; a re-run of either finds the same run."""
    dispatched(world)
    for job in ("build", "test"):
        report(world, repo="a/l3", job_name=job)
    assert label(world)["created_check_runs"] == ["a/l3/build", "a/l3/test"]
    assert [(check.name, check.external_id) for check in shown(world)] == [
        ("crcr/a/l3/CI/build", "100:7"),
        ("crcr/a/l3/CI/test", "100:7"),
    ]


@pytest.mark.row("LB03")
def test_a_job_that_has_ended_is_shown_with_its_end(world: World) -> None:
    """One check run for all of it."""
    dispatched(world)
    report(world, repo="a/l3")
    report(world, "completed", repo="a/l3")
    label(world)
    (check,) = shown(world)
    assert (check.status, check.conclusion) == ("completed", "success")


@pytest.mark.row("LB04")
def test_all_backends_of_the_device_are_shown(world: World) -> None:
    """All of them through one repository's token, which is upstream's."""
    world.allowlist.text = TWO
    dispatched(world)
    for repo in ("a/l3", "b/l3"):
        report(world, repo=repo)
    assert sorted(label(world)["created_check_runs"]) == ["a/l3/build", "b/l3/build"]
    assert [check.name for check in shown(world)] == ["crcr/a/l3/CI/build", "crcr/b/l3/CI/build"]
    assert {repo for call, repo in world.github.calls if call == "create_check_run"} == {"pytorch/pytorch"}


@pytest.mark.row("LB05")
def test_without_a_job_the_wish_is_kept(world: World) -> None:
    """For those that will be reported."""
    dispatched(world)
    answered = label(world)
    assert (answered["ok"], answered["created_check_runs"]) == (True, [])
    assert wishes(world) == [(S1, "a/l3")]
    assert shown(world) == []


@pytest.mark.row("LB06")
@pytest.mark.parametrize("name", ["ciflow/trunk", "bug", "crcr/npu", "xciflow/crcr/npu"])
def test_another_label_is_ignored(world: World, name: str) -> None:
    """Nothing is wished, nothing is shown, nobody is dispatched."""
    dispatched(world)
    report(world, repo="a/l3")
    told = len(world.github.dispatches)
    assert label(world, name)["ignored"] is True
    assert (wishes(world), shown(world), len(world.github.dispatches)) == ([], [], told)


@pytest.mark.row("LB07")
def test_a_device_that_nobody_has_shows_nothing(world: World) -> None:
    """And wishes nothing."""
    dispatched(world)
    report(world, repo="a/l3")
    answered = label(world, "ciflow/crcr/abacus")
    assert (answered["ok"], answered["created_check_runs"]) == (True, [])
    assert (wishes(world), shown(world)) == ([], [])


@pytest.mark.row("LB08")
@pytest.mark.parametrize("pull", [None, {}, {"number": 7}, {"head": {"sha": S1}}])
def test_a_label_of_no_pull_request_is_ignored(world: World, pull: object) -> None:
    """With the reason."""
    answered = label(world, pull_request=pull, number=None)
    assert (answered["ignored"], answered["reason"]) == (True, "missing pr context")
    assert wishes(world) == []


@pytest.mark.row("LB09")
def test_one_that_cannot_be_created_keeps_no_other_back(world: World) -> None:
    """Even one that never can."""
    dispatched(world)
    for job in ("build", "test"):
        report(world, repo="a/l3", job_name=job)
    world.github.fail("create_check_run", GitHubError("Validation Failed", status=422))
    label(world)
    assert len(shown(world)) == 1


@pytest.mark.row("LB10")
def test_without_a_token_it_is_tried_again_later(world: World) -> None:
    """The webhook is answered as ever."""
    dispatched(world)
    report(world, repo="a/l3")
    world.github.fail("create_check_run", GitHubError("no installation token: no answer"))
    assert label(world)["created_check_runs"] == ["a/l3/build"]
    assert shown(world) == []
    world.clock.tick(3_600)
    world.drain()
    assert len(shown(world)) == 1


@pytest.mark.row("LB11")
def test_what_is_older_than_three_days_is_not_shown(world: World) -> None:
    """Up to then it is."""
    dispatched(world)
    report(world, repo="a/l3")
    report(world, "completed", repo="a/l3")
    world.clock.tick(259_199)
    assert len(label(world, deliver=False)["created_check_runs"]) == 1
    world.clock.tick(2)
    answered = world.webhook("pull_request", labeled(LABEL), delivery="label-2")
    assert answered.json()["created_check_runs"] == []


@pytest.mark.row("LB12")
def test_a_backend_for_nightly_events_only_is_not_shown(world: World) -> None:
    """Nor wished to be: it has nothing to do with pull requests."""
    dispatched(world)
    report(world, repo="a/l3")
    world.allowlist.text = "L3:\n  npu:\n    a/l3:\n      oncalls: [x]\n      events: [nightly]\n"
    assert label(world)["created_check_runs"] == []
    assert (wishes(world), shown(world)) == ([], [])


@pytest.mark.row("LB13")
def test_a_closed_pull_request_is_labelled_in_vain(world: World) -> None:
    """Nobody looks at it any more."""
    dispatched(world)
    report(world, repo="a/l3")
    pull = labeled(LABEL)["pull_request"] | {"state": "closed"}
    assert label(world, pull_request=pull)["ignored"] is True
    assert (wishes(world), shown(world)) == ([], [])
