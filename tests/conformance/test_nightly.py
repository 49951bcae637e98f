"""Reports of scheduled runs (NI)."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import func, select

from relay.github.types import GitHubError
from relay.store.crcr_models import CheckWish, Dispatch
from tests.conformance.answering import history, jobs, nothing_happened, results
from tests.conformance.payloads import S1, S2, UPSTREAM, callback, nightly, pull_request
from tests.conformance.world import World

UUID = "0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"


def told(world: World, body: dict[str, Any], repo: str = "a/l2") -> int:
    """Report of a commit that exists, and let what follows happen; the status."""
    world.github.commits.setdefault(S1, True)
    status = world.callback(body, repo=repo).status_code
    if not world.strict:
        world.drain()
    return status


@pytest.mark.row("NI01")
def test_a_nightly_report_is_taken_without_a_dispatch(world: World) -> None:
    """It is forwarded as it came, under the name of who sent it."""
    body = nightly()
    assert told(world, body) == 200
    (posted,) = world.hud.posts
    assert posted["trusted"]["verified_repo"] == "a/l2"
    assert posted["trusted"]["downstream_repo_level"] == "L2"
    assert posted["untrusted"]["callback_payload"] == body
    (row,) = results(world)
    assert (row.downstream_repo, row.event_type, row.pytorch_head_sha, row.pr_number) == ("a/l2", "nightly", S1, 0)


@pytest.mark.row("NI02")
@pytest.mark.parametrize("repo", ["a/l2", "a/l3", "a/l4"])
def test_a_nightly_report_touches_no_state_of_dispatches(world: World, repo: str) -> None:
    """No dispatch, no wish for checks, no check, and nothing that could time out."""
    assert told(world, nightly(), repo) == 200
    with world.session() as session:
        assert session.scalar(select(func.count()).select_from(Dispatch)) == 0
        assert session.scalar(select(func.count()).select_from(CheckWish)) == 0
    assert not world.github.checks
    assert [job.state for job in jobs(world)] == ["completed"]
    assert [job.in_progress_at for job in jobs(world)] == [None]


@pytest.mark.row("NI03")
def test_a_nightly_report_has_no_metrics(world: World) -> None:
    """Nobody knows how long it waited."""
    told(world, nightly())
    assert world.hud.posts[0]["trusted"]["ci_metrics"] == {"queue_time": None, "execution_time": None}
    (row,) = results(world)
    assert (row.queue_time, row.execution_time) == (None, None)


@pytest.mark.row("NI04")
def test_a_periodic_report_is_the_same(world: World) -> None:
    """Under its own word."""
    body = nightly(event_type="periodic")
    assert told(world, body) == 200
    assert world.hud.posts[0]["untrusted"]["callback_payload"] == body
    assert [row.event_type for row in results(world)] == ["periodic"]


@pytest.mark.row("NI05")
def test_a_nightly_run_reports_at_its_end_only(world: World) -> None:
    """The refusal says which status it takes."""
    answered = world.callback(nightly(status="in_progress"))
    assert answered.status_code == 400
    assert "completed" in answered.json()["detail"]
    assert nothing_happened(world)


@pytest.mark.row("NI06")
def test_a_strangers_nightly_report_is_ignored(world: World) -> None:
    """As every report of one is."""
    answered = world.callback(nightly(), repo="stranger/repo")
    assert (answered.status_code, answered.json()["status"]) == (200, "ignored")
    assert nothing_happened(world)


@pytest.mark.row("NI07")
def test_nightly_reports_are_limited_too(world: World) -> None:
    """By the same bucket."""
    for _ in range(100):
        world.callback({})
    assert world.callback(nightly()).status_code == 429
    assert nothing_happened(world)


@pytest.mark.row("NI08")
def test_a_nightly_report_names_its_commit(world: World) -> None:
    """In the field that dispatched ones have for their delivery."""
    body = nightly()
    del body["delivery_id"]
    answered = world.callback(body)
    assert answered.status_code == 400
    assert "delivery_id" in answered.json()["detail"]


@pytest.mark.row("NI09")
def test_a_nightly_failure_stays_one(world: World) -> None:
    """In the row and on the way."""
    assert told(world, nightly(conclusion="failure")) == 200
    assert [row.conclusion for row in results(world)] == ["failure"]
    assert world.hud.posts[0]["untrusted"]["callback_payload"]["workflow"]["conclusion"] == "failure"


@pytest.mark.row("NI10")
def test_another_cis_run_has_its_own_form_of_id(world: World) -> None:
    """The original fails on it."""
    status = told(world, nightly(run_id=UUID))
    if world.strict:
        assert status == 500
        assert nothing_happened(world)
    else:
        assert status == 200
        assert [row.run_id for row in results(world)] == [UUID]


@pytest.mark.row("NI11")
@pytest.mark.parametrize(("sha", "ours"), [("main", 400), ("1" * 39, 400), (S2, 422)])
def test_a_nightly_report_is_of_a_commit_that_exists(world: World, sha: str, ours: int) -> None:
    """The original believes any text."""
    status = told(world, nightly(sha))
    if world.strict:
        assert status == 200
        assert len(world.hud.posts) == 1
        assert world.github.calls == []
    else:
        assert status == ours
        assert nothing_happened(world)


@pytest.mark.row("NI11")
def test_a_report_is_not_lost_because_github_cannot_be_asked(world: World) -> None:
    """Then its commit counts as existing."""
    world.github.fail("commit_exists", GitHubError("away", status=500))
    assert world.callback(nightly()).status_code == 200


@pytest.mark.row("NI12")
def test_a_nightly_report_is_no_pull_requests(world: World) -> None:
    """The original forwards what it claims to be."""
    body = nightly()
    body["payload"] = {**pull_request(number=999), "head_sha": S1}
    assert told(world, body) == 200
    posted = world.hud.posts[0]["untrusted"]["callback_payload"]
    if world.strict:
        assert posted == body
    else:
        assert not posted["payload"].keys() & {"pull_request", "number", "ref", "after"}
        assert [(row.pr_number, row.pytorch_head_sha) for row in results(world)] == [(0, S1)]


@pytest.mark.row("NI13")
@pytest.mark.parametrize("event_type", ["weekly", "Nightly", "", "push"])
def test_another_word_is_a_dispatched_one(world: World, event_type: str) -> None:
    """And there is no dispatch of it."""
    body = callback("completed", delivery=S1, event_type=event_type, payload={"repository": {"full_name": UPSTREAM}})
    answered = world.callback(body)
    assert answered.status_code == 400
    assert "no matching dispatch" in answered.json()["detail"]
    assert nothing_happened(world)


@pytest.mark.row("NI14")
def test_the_later_of_two_nightly_reports_wins_and_both_are_kept(world: World) -> None:
    """One row, two accounts in the job's history."""
    told(world, nightly(conclusion="failure"))
    world.clock.tick(60)
    assert told(world, nightly()) == 200
    assert [row.conclusion for row in results(world)] == ["success"]
    assert history(world) == ["callback.finish", "callback.finish"]
    assert len(world.hud.posts) == 2
    told(world, nightly(run_attempt="2"))
    assert [job.run_attempt for job in jobs(world)] == [1, 2]
