"""Rows HX: how a forwarded report becomes a row."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from relay.hud.matrix import scheduled_matrix
from tests.conformance.payloads import S1, S2, UPSTREAM, callback, pull_request
from tests.conformance.reported import ask, post, posted, rows
from tests.conformance.world import World
from tests.relay.hud.reports import SHA, envelope

_START = "2026-11-02T09:00:00.000000Z"
_STARTED = datetime(2026, 11, 2, 9, tzinfo=UTC)
_COUNTS = {"passed": 80, "failed": 3, "skipped": 7}


@pytest.mark.row("HX01")
def test_the_key_names_repository_delivery_workflow_job_and_check(world: World) -> None:
    assert posted(world).dynamo_key == "a/l2/d1/CI/build/900"


@pytest.mark.row("HX02")
def test_the_basic_columns_are_mapped(world: World) -> None:
    row = posted(world)
    assert (row.status, row.downstream_repo, row.upstream_repo, row.pr_number) == ("in_progress", "a/l2", UPSTREAM, 7)
    assert (row.pytorch_head_sha, row.delivery_id, row.workflow_name, row.job_name) == (SHA, "d1", "CI", "build")
    assert row.workflow_run_url == "https://github.com/a/l2/actions/runs/100"
    assert (row.check_run_id, row.run_id) == ("900", "100")


@pytest.mark.row("HX03")
@pytest.mark.parametrize(("level", "stored"), [("L3", "L3"), (None, "")])
def test_the_level_is_stored_when_it_is_told(world: World, level: str | None, stored: str) -> None:
    assert posted(world, level=level).downstream_repo_level == stored


@pytest.mark.row("HX03")
def test_a_report_without_a_level_leaves_the_one_that_is_known(world: World) -> None:
    posted(world, level="L4")
    assert posted(world, "completed", level=None).downstream_repo_level == "L4"


@pytest.mark.row("HX04")
@pytest.mark.parametrize(
    ("event", "stored"),
    [("workflow_job", "workflow_job"), ("nightly", "nightly"), ("periodic", "periodic"), ("", "pull_request")],
)
def test_the_event_is_stored_as_given_or_left_to_the_default(world: World, event: str, stored: str) -> None:
    assert posted(world, event=event).event_type == stored


@pytest.mark.row("HX05", "HX06")
@pytest.mark.parametrize(("queue", "execution"), [(12.5, None), (None, 45.2)])
def test_a_time_is_stored_when_it_is_told(world: World, queue: float | None, execution: float | None) -> None:
    row = posted(world, queue_time=queue, execution_time=execution)
    assert (row.queue_time, row.execution_time) == (queue, execution)
    again = posted(world, "completed")
    assert (again.queue_time, again.execution_time) == (queue, execution)


@pytest.mark.row("HX07")
@pytest.mark.parametrize(
    ("told", "started", "artifact"),
    [
        ({"started_at": _START}, _STARTED, ""),
        ({"artifact_url": "https://x.org/a"}, None, "https://x.org/a"),
        ({}, None, ""),
    ],
)
def test_start_and_artifact_are_stored_when_they_are_told(
    world: World, told: dict[str, Any], started: datetime | None, artifact: str
) -> None:
    row = posted(world, **told)
    assert (row.started_at, row.artifact_url) == (started, artifact)


@pytest.mark.row("HX08")
@pytest.mark.parametrize(("attempt", "stored"), [("3", 3), (..., 1)])
def test_the_attempt_is_a_number_and_one_when_absent(world: World, attempt: Any, stored: int) -> None:
    assert posted(world, run_attempt=attempt).run_attempt == stored


@pytest.mark.row("HX09")
def test_the_upstream_repository_has_a_default(world: World) -> None:
    assert posted(world, payload={"pull_request": {"number": 7}}).upstream_repo == UPSTREAM


@pytest.mark.row("HX10")
def test_without_a_pull_request_and_a_commit_the_delivery_stands_for_it(world: World) -> None:
    row = posted(world, payload={})
    assert (row.pr_number, row.pytorch_head_sha) == (0, "d1")


@pytest.mark.row("HX11")
def test_a_nightly_tells_its_commit_in_the_payload(world: World) -> None:
    row = posted(world, "completed", event="nightly", payload={"head_sha": S1})
    assert (row.pytorch_head_sha, row.pr_number, row.event_type) == (S1, 0, "nightly")


@pytest.mark.row("HX12")
def test_an_end_has_a_conclusion_and_a_time(world: World) -> None:
    row = posted(world, "completed", conclusion="failure", completed_at=_START)
    assert (row.conclusion, row.completed_at) == ("failure", _STARTED)


@pytest.mark.row("HX13")
@pytest.mark.parametrize("told", [{"conclusion": "success", "completed_at": _START}, {"test_results": _COUNTS}])
def test_a_running_job_has_no_end_and_no_counts(world: World, told: dict[str, Any]) -> None:
    row = posted(world, **told)
    assert (row.conclusion, row.completed_at, row.total_tests, row.passed_tests) == ("", None, 0, 0)


@pytest.mark.row("HX14")
@pytest.mark.parametrize(("given", "total"), [({"total": 100}, 100), ({}, 90)])
def test_the_total_is_as_given_or_the_sum(world: World, given: dict[str, int], total: int) -> None:
    row = posted(world, "completed", test_results=_COUNTS | given)
    assert (row.passed_tests, row.failed_tests, row.skipped_tests, row.total_tests) == (80, 3, 7, total)


@pytest.mark.row("HX15")
@pytest.mark.parametrize("name", ["", ..., None])
def test_a_job_must_have_a_name(world: World, name: Any) -> None:
    answer = post(world, envelope(job_name=name))
    assert (answer.status_code, answer.json()) == (400, {"error": "Missing required field: workflow.job_name"})


@pytest.mark.row("HX16")
@pytest.mark.parametrize("check", [..., None])
@pytest.mark.parametrize(("event", "status"), [("pull_request", 400), ("nightly", 200), ("periodic", 200)])
def test_a_check_run_is_needed_but_for_self_reports(world: World, check: Any, event: str, status: int) -> None:
    answer = post(world, envelope("completed", event=event, check_run_id=check))
    assert answer.status_code == status
    assert len(rows(world)) == (status == 200)
    if status == 400:
        assert answer.json() == {"error": "Missing required field: workflow.check_run_id"}


@pytest.mark.row("HX17", "HX18")
@pytest.mark.parametrize(("ref", "pull"), [("refs/tags/ciflow/trunk/42", 42), ("refs/heads/main", 0)])
def test_a_push_tells_its_commit_and_a_tag_its_pull_request(world: World, ref: str, pull: int) -> None:
    row = posted(world, event="push", payload={"ref": ref, "after": S1})
    assert (row.pr_number, row.pytorch_head_sha) == (pull, S1)


@pytest.mark.row("HX19")
def test_fifty_failed_tests_are_kept_with_five_hundred_characters_each(world: World) -> None:
    details = [{"name": f"t{number}", "message": "m" * 900} for number in range(60)]
    kept = json.loads(posted(world, "completed", failed_tests_detail=details).failed_tests_json)
    assert len(kept) == 50
    assert all(len(one["message"]) == 500 for one in kept)


@pytest.mark.row("HX20")
@pytest.mark.parametrize("order", [("in_progress", "completed"), ("completed", "in_progress")])
def test_start_and_end_of_one_job_meet_whichever_check_reports_them(world: World, order: tuple[str, str]) -> None:
    """The original keeps two rows, of which one runs for ever."""
    for check, status in zip(("1", "2"), order, strict=True):
        post(world, envelope(status, check_run_id=check, started_at=_START))
    found = [row.status for row in rows(world)]
    assert found == (list(order) if world.strict else ["completed"])


@pytest.mark.row("HX20")
def test_start_and_end_meet_when_they_come_as_callbacks(world: World) -> None:
    """From the webhook to the page: what the relay's own backends report is in its own results store."""
    world.webhook("pull_request", pull_request())
    world.drain()
    assert world.callback(callback(check_run_id="900")).status_code == 200
    assert world.callback(callback("completed", check_run_id="901")).status_code == 200
    assert [row.status for row in rows(world)] == (["in_progress", "completed"] if world.strict else ["completed"])
    shown = ask(world, "crcr_pr_results", pr=7)
    assert {(row["downstream_repo"], row["downstream_repo_level"]) for row in shown} == {("a/l2", "L2")}


@pytest.mark.row("HX17")
def test_what_was_dispatched_is_believed_and_not_the_echo(world: World) -> None:
    """A backend that claims another pull request and commit is in the record under the ones that it was told of."""
    world.webhook("pull_request", pull_request())
    world.drain()
    forged = callback(payload=pull_request(number=8, sha=S2))
    assert world.callback(forged).status_code == 200
    (row,) = rows(world)
    assert (row.pr_number, row.pytorch_head_sha) == (7, S1)


@pytest.mark.row("HX21")
def test_the_jobs_of_one_build_are_one_nightly_run(world: World) -> None:
    """Each with a delivery of its own, the commit beside it: the original makes a run of each."""
    for number in range(65):
        report = envelope(
            "completed",
            event="nightly",
            delivery=f"buildkite-89-{number}",
            payload={},
            top={"pytorch_head_sha": S1},
            run_id="89",
            job_name=f"job {number}",
        )
        assert post(world, report).status_code == 200
    assert len({row.pytorch_head_sha for row in rows(world)}) == (65 if world.strict else 1)
    matrix = scheduled_matrix(ask(world, "crcr_nightly_dashboard", repo="a/l2", days=7))
    assert [len([cell for cell in line.cells if cell]) for line in matrix.lines] == [65]
    assert [line.sha for line in matrix.lines] == ([""] if world.strict else [S1])


@pytest.mark.row("HX22")
def test_an_end_without_a_start_is_listed(world: World) -> None:
    """With no start: the original gives it the beginning of time, and so it is in no range."""
    posted(world, "completed", conclusion="success", completed_at="2026-11-02T09:00:00Z")
    (row,) = ask(world, "crcr_backend_dashboard", repo="a/l2", days=7, per_page=50, offset=0)
    assert (row["started_at"], row["conclusion"], row["duration_seconds"]) == (None, "success", 0)
    assert ask(world, "crcr_summary", days=7)[0]["total"] == 1
    assert len(ask(world, "crcr_success_rate", days=7, event_type="pull_request")) == 1
