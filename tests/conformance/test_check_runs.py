"""Check runs upstream (CK)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from relay.crcr.check_runs import check_of
from relay.github.types import CheckRun, GitHubError
from tests.conformance.answering import answer, dispatched, jobs, report, results
from tests.conformance.payloads import S1, S2, labeled, pull_request, push
from tests.conformance.world import World

LABEL = "ciflow/crcr/npu"
TRUNK = "refs/tags/ciflow/trunk/7"


def shown(world: World) -> list[CheckRun]:
    """The check runs as they stand, oldest first; all of them are upstream's."""
    assert all(check.repo == "pytorch/pytorch" for check in world.github.checks.values())
    return [check.check for check in world.github.checks.values()]


@pytest.mark.row("CK01")
def test_an_l4_end_is_one_check_run(world: World) -> None:
    """Completed, with the conclusion, whether its start was heard of or not."""
    dispatched(world)
    assert report(world, "completed", repo="a/l4").status_code == 200
    (check,) = shown(world)
    assert (check.status, check.conclusion) == ("completed", "success")


@pytest.mark.row("CK01")
def test_start_and_end_are_one_check_run(world: World) -> None:
    """Created at the start, updated at the end: nothing of an earlier state is left on the page."""
    dispatched(world)
    report(world, repo="a/l4")
    report(world, "completed", repo="a/l4", conclusion="failure")
    (check,) = world.github.checks.values()
    assert (check.writes, check.check.status, check.check.conclusion) == (2, "completed", "failure")


@pytest.mark.row("CK02")
def test_the_name_tells_backend_workflow_and_job(world: World) -> None:
    """In this order, behind the prefix that re-runs are known by."""
    dispatched(world)
    report(world, repo="a/l4", job_name="j1")
    assert [check.name for check in shown(world)] == ["crcr/a/l4/CI/j1"]


@pytest.mark.row("CK03")
def test_the_external_id_tells_run_and_pull_request(world: World) -> None:
    """Re-runs find the run by it."""
    dispatched(world)
    report(world, repo="a/l4")
    assert [check.external_id for check in shown(world)] == ["100:7"]


@pytest.mark.row("CK04")
def test_a_start_is_shown_on_the_head_of_the_pull_request(world: World) -> None:
    """In progress, with no conclusion."""
    dispatched(world)
    report(world, repo="a/l4")
    (check,) = shown(world)
    assert (check.head_sha, check.status, check.conclusion) == (S1, "in_progress", None)


@pytest.mark.row("CK04")
def test_the_head_is_the_one_that_was_dispatched(world: World) -> None:
    """What a backend echoes of it is never used."""
    dispatched(world)
    body = answer(world, repo="a/l4") | {"payload": pull_request(sha=S2, number=999)}
    assert world.callback(body, repo="a/l4").status_code == 200
    world.drain()
    (check,) = shown(world)
    assert (check.head_sha, check.external_id) == (S1, "100:7")


@pytest.mark.row("CK05")
def test_a_new_attempt_is_a_new_check_run(world: World) -> None:
    """The earlier one stays as it ended."""
    dispatched(world)
    report(world, "completed", repo="a/l4", conclusion="failure")
    report(world, repo="a/l4", run_attempt="2")
    assert [(check.status, check.conclusion) for check in shown(world)] == [
        ("completed", "failure"),
        ("in_progress", None),
    ]


@pytest.mark.row("CK05")
def test_a_pull_request_that_is_opened_again_has_new_check_runs(world: World) -> None:
    """Its backends were dispatched again."""
    dispatched(world)
    report(world, "completed", repo="a/l4")
    assert world.webhook("pull_request", pull_request("reopened"), delivery="d2").status_code == 200
    world.drain()
    report(world, repo="a/l4", run_id="200")
    assert [(check.status, check.external_id) for check in shown(world)] == [
        ("completed", "100:7"),
        ("in_progress", "200:7"),
    ]


@pytest.mark.row("CK06")
def test_an_l3_job_is_shown_with_the_label(world: World) -> None:
    """The one that the dispatched pull request had, which the backend echoes."""
    dispatched(world, labels=(LABEL,))
    report(world, repo="a/l3")
    assert [check.name for check in shown(world)] == ["crcr/a/l3/CI/build"]


@pytest.mark.row("CK07")
@pytest.mark.parametrize(
    ("labels", "count"),
    [
        (("other", LABEL), 1),
        ((LABEL, "ciflow/crcr/gpu"), 1),
        (("ciflow/crcr/gpu",), 0),
        (("ciflow/crcr/npux",), 0),
        (("npu",), 0),
        (("CIFLOW/CRCR/NPU",), 0),
        (("ciflow/crcr/npu/",), 0),
        ((), 0),
    ],
)
def test_the_whole_name_of_a_label_decides(world: World, labels: tuple[str, ...], count: int) -> None:
    """Exactly that of the device, among whatever others."""
    dispatched(world, labels=labels)
    report(world, repo="a/l3")
    assert len(shown(world)) == count


@pytest.mark.row("CK07", "CK08")
def test_a_label_that_only_the_backend_knows_of_decides_nothing(world: World) -> None:
    """Labels are upstream's to give."""
    dispatched(world)
    body = answer(world, repo="a/l3") | {"payload": pull_request(labels=(LABEL,))}
    assert world.callback(body, repo="a/l3").status_code == 200
    world.drain()
    assert shown(world) == []


@pytest.mark.row("CK08")
def test_an_l3_job_without_the_label_is_not_shown(world: World) -> None:
    """It is recorded and forwarded all the same."""
    dispatched(world)
    report(world, repo="a/l3")
    assert shown(world) == []
    assert len(results(world)) == len(world.hud.posts) == 1


@pytest.mark.row("CK09")
def test_an_l3_job_is_shown_when_the_label_came_after_the_dispatch(world: World) -> None:
    """The echoed payload does not have it, our record does."""
    dispatched(world)
    world.webhook("pull_request", labeled(LABEL), delivery="d2")
    assert shown(world) == []
    report(world, repo="a/l3")
    assert [check.status for check in shown(world)] == ["in_progress"]


@pytest.mark.row("CK10")
@pytest.mark.parametrize("status", ["in_progress", "completed"])
def test_an_l2_job_is_never_shown(world: World, status: str) -> None:
    """Whatever the labels."""
    dispatched(world, labels=(LABEL,))
    report(world, status)
    assert shown(world) == []


@pytest.mark.row("CK11")
@pytest.mark.parametrize(
    "error", [GitHubError("Server Error", status=500), GitHubError("no answer"), GitHubError("no", status=403)]
)
def test_a_github_that_fails_is_not_the_backends_matter(world: World, error: GitHubError) -> None:
    """The callback is accepted, the row is sent; what may succeed later is tried again."""
    dispatched(world)
    world.github.fail("create_check_run", error)
    assert report(world, "completed", repo="a/l4").status_code == 200
    assert (shown(world), len(world.hud.posts)) == ([], 1)
    world.clock.tick(3_600)
    world.drain()
    assert len(shown(world)) == (1 if error.passing else 0)


@pytest.mark.row("CK12")
@pytest.mark.parametrize("status", [400, 500, 0])
def test_a_hud_that_fails_keeps_no_check_run_back(world: World, status: int) -> None:
    """They leave independently."""
    dispatched(world)
    world.hud.always = status
    assert report(world, "completed", repo="a/l4").status_code == 200
    assert [check.conclusion for check in shown(world)] == ["success"]
    assert world.hud.posts == []


def pushed(world: World, payload: Mapping[str, Any]) -> None:
    """A push was dispatched, and the L4 backend has begun."""
    assert world.webhook("push", payload).status_code == 200
    world.drain()
    assert report(world, repo="a/l4").status_code == 200


@pytest.mark.row("CK13")
def test_a_push_to_a_branch_has_no_check_run(world: World) -> None:
    """Nobody reads a pull request there."""
    pushed(world, push())
    assert (shown(world), len(results(world))) == ([], 1)


@pytest.mark.row("CK13")
def test_a_push_of_a_trunk_tag_has_the_pull_requests(world: World) -> None:
    """The tag tells its number, the push the commit."""
    pushed(world, push(TRUNK, after=S2))
    (check,) = shown(world)
    assert (check.head_sha, check.external_id) == (S2, "100:7")


@pytest.mark.row("CK14")
def test_the_texts_are_those_that_readers_know(world: World) -> None:
    """Titles by state; the summary is the backend and its run."""
    dispatched(world)
    report(world, repo="a/l4")
    where = "https://github.com/a/l4/actions/runs/100"
    (check,) = shown(world)
    assert (check.title, check.summary, check.details_url) == ("In progress", f"a/l4 workflow: {where}", where)
    report(world, "completed", repo="a/l4")
    (check,) = shown(world)
    assert (check.title, check.summary, check.details_url) == ("Success", f"a/l4 workflow: {where}", where)
    (job,) = jobs(world)
    job.conclusion = None
    assert check_of(job, "https://github.com") == replace(check, conclusion=None, title="Completed")


@pytest.mark.row("CK15")
@pytest.mark.parametrize("name", [..., ""])
def test_a_job_without_a_name(world: World, name: object) -> None:
    """Ours has no check run without one; the original calls it `None`."""
    dispatched(world)
    answered = report(world, repo="a/l4", job_name=name)
    world.drain()
    if world.strict:
        assert answered.status_code == 200
        assert [check.name for check in shown(world)] == ["crcr/a/l4/CI/None"]
    else:
        assert answered.status_code == 400
        assert "job_name" in answered.json()["detail"]
        assert (shown(world), jobs(world)) == ([], [])


@pytest.mark.row("CK16")
def test_a_job_is_shown_from_the_label_on(world: World) -> None:
    """What was reported before it is shown by it, and what comes later goes on from there."""
    dispatched(world)
    report(world, repo="a/l3")
    assert shown(world) == []
    answered = world.webhook("pull_request", labeled(LABEL), delivery="d2")
    assert answered.json()["created_check_runs"] == ["a/l3/build"]
    world.drain()
    assert [check.status for check in shown(world)] == ["in_progress"]
    report(world, "completed", repo="a/l3")
    assert [(check.status, check.conclusion) for check in shown(world)] == [("completed", "success")]
