"""The supposed end of a silent job: by what it is judged, how it is written down, and that truth comes before it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import select

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.supposing import SUPPOSED, Supposed, suppose, supposed_callback, supposed_end
from relay.github.types import GitHubError, SeenWorkflowRun
from relay.store.crcr_models import BackendJob, CrcrResult, JobState
from tests.conformance.github_stand_in import GitHubStandIn
from tests.relay.crcr.stage import Stage, a_job, staged

LIMIT_S = 21_600.0
SILENT = "no report within 21600 s"


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record with a GitHub to look at."""
    with staged(context) as made:
        yield made


def run(status: str = "completed", conclusion: str | None = "success", attempt: int = 1) -> SeenWorkflowRun:
    """A run as GitHub shows it."""
    return SeenWorkflowRun(100, status, conclusion, attempt, "https://github.com/a/l4/actions/runs/100")


@pytest.mark.parametrize("seen", [None, run(attempt=2), run("in_progress", None, attempt=2)])
def test_without_a_run_to_be_seen_it_timed_out(seen: SeenWorkflowRun | None) -> None:
    """A later attempt tells nothing of an earlier one but that it is over."""
    assert supposed_end(1, seen, LIMIT_S) == Supposed("timed_out", SILENT)


@pytest.mark.parametrize("status", ["in_progress", "queued", "waiting", "pending", "requested"])
def test_while_its_run_goes_on_nothing_is_supposed(status: str) -> None:
    """Whatever GitHub calls it."""
    assert supposed_end(1, run(status, None), LIMIT_S) is None


@pytest.mark.parametrize(
    ("conclusion", "supposed"),
    [
        *(("success", "success"), ("cancelled", "cancelled"), ("failure", "timed_out")),
        *(("startup_failure", "timed_out"), ("skipped", "timed_out"), (None, "timed_out")),
    ],
)
def test_a_run_that_ended_tells_of_its_jobs_only_what_is_of_all(conclusion: str | None, supposed: str) -> None:
    """A failure may be another job's; the reason says what GitHub shows."""
    end = supposed_end(1, run("completed", conclusion), LIMIT_S)
    assert end == Supposed(supposed, f"{SILENT}; on GitHub its run ended with {conclusion or 'no conclusion'}")


def test_the_supposed_callback_is_the_last_one_ended(stage: Stage) -> None:
    """Everything it said stays, but for the end."""
    job = a_job(stage.clock())
    told = supposed_callback(job, "timed_out", stage.clock.tick(60))
    ended = {"status": "completed", "conclusion": "timed_out", "completed_at": "2026-11-02T09:31:00.000000Z"}
    assert told == {**job.callback, "workflow": {**job.callback["workflow"], **ended}}


@pytest.mark.parametrize("kept", [{}, {"workflow": None}, {"workflow": "x", "payload": {}}])
def test_a_job_whose_callback_was_lost_is_named_by_its_record(stage: Stage, kept: dict[str, object]) -> None:
    """It can still be reported."""
    told = supposed_callback(a_job(stage.clock(), callback=kept), "timed_out", stage.clock())
    assert told["delivery_id"] == "d1"
    assert (told["workflow"]["name"], told["workflow"]["job_name"], told["workflow"]["run_id"]) == (
        "CI",
        "build",
        "100",
    )


def overdue(stage: Stage, **columns: object) -> BackendJob:
    """A job that was silent for an hour more than it may."""
    job = stage.add(**columns)
    stage.clock.tick(LIMIT_S + 3_600)
    return job


def test_the_supposed_end_is_written_down_with_its_reason(stage: Stage) -> None:
    """On the job, in its history, in the results, and upstream."""
    job = overdue(stage)
    assert suppose(stage.context, job.id, Level.L4) is True
    ended = stage.job(job.id)
    assert (ended.state, ended.conclusion, ended.assumed) == (JobState.COMPLETED, "timed_out", SILENT)
    assert (ended.execution_time, ended.completed_at, ended.deadline_at) == (25_200.0, stage.clock(), None)
    assert stage.history(job.id) == [SUPPOSED]
    with stage.context.store.reading() as session:
        row = session.scalars(select(CrcrResult)).one()
    assert (row.status, row.conclusion, row.downstream_repo_level) == ("completed", "timed_out", "L4")
    stage.outbox.deliver_due()
    assert [check.check.conclusion for check in stage.github.checks.values()] == ["timed_out"]


def test_a_run_that_goes_on_gets_more_time(stage: Stage) -> None:
    """It is looked at again soon, and stays in progress."""
    job = overdue(stage)
    stage.github.runs["a/l4", 100] = run("in_progress", None)
    assert suppose(stage.context, job.id, Level.L4) is None
    waiting = stage.job(job.id)
    assert waiting.state is JobState.IN_PROGRESS
    assert waiting.deadline_at is not None
    assert 0 < (waiting.deadline_at - stage.clock()).total_seconds() <= 600


def test_while_github_cannot_be_asked_nothing_is_supposed(stage: Stage) -> None:
    """An outage there is no reason to call jobs dead; the next sweep asks again."""
    job = overdue(stage)
    stage.github.fail("workflow_run", GitHubError("no answer"))
    assert suppose(stage.context, job.id, Level.L4) is False
    assert stage.job(job.id).state is JobState.IN_PROGRESS
    assert suppose(stage.context, job.id, Level.L4) is True


def test_where_github_tells_us_nothing_the_clock_decides(stage: Stage) -> None:
    """An App without the right to read a backend's runs never learns more."""
    job = overdue(stage)
    stage.github.fail("workflow_run", GitHubError("Resource not accessible by integration", status=403))
    assert suppose(stage.context, job.id, Level.L4) is True
    assert stage.job(job.id).assumed == SILENT


def test_github_is_not_asked_for_runs_of_another_ci(stage: Stage) -> None:
    """It has no number for them."""
    job = overdue(stage, run_id="0198-uuid")
    assert suppose(stage.context, job.id, Level.L4) is True
    assert stage.github.calls == []


def test_a_job_that_reports_while_github_is_asked_keeps_its_word(stage: Stage) -> None:
    """Nothing is supposed any more, and nothing of ours overwrites it."""
    job = overdue(stage)

    class ReportsMeanwhile(GitHubStandIn):
        """A GitHub during whose answer the job completes."""

        def workflow_run(self, repo: str, run_id: int) -> SeenWorkflowRun | None:
            with stage.context.store.writing() as session:
                told = session.get_one(BackendJob, job.id)
                told.state, told.conclusion = JobState.COMPLETED, "success"
            return super().workflow_run(repo, run_id)

    stage.context = replace(stage.context, crcr=replace(stage.parts, github=ReportsMeanwhile()))
    assert suppose(stage.context, job.id, Level.L4) is True
    assert (stage.job(job.id).conclusion, stage.history(job.id)) == ("success", [])


def test_a_job_that_is_gone_is_nothing(stage: Stage) -> None:
    """Not even an error."""
    assert suppose(stage.context, 999, Level.L4) is None
