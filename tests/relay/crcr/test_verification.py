"""Looking reports up: what a run bears out, whose reports are looked up, when that is told, and when it is given up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.verification import PAUSE, SAMPLE, borne_out, due_jobs, plan, verify
from relay.github.types import GitHubError, SeenWorkflowRun
from relay.store.crcr_models import BackendJob
from tests.relay.crcr.stage import Stage, a_job, completed, staged


@pytest.fixture
def stage(context: RelayContext) -> Iterator[Stage]:
    """A record with a GitHub to look at."""
    with staged(context) as made:
        yield made


def run(conclusion: str | None, status: str = "completed", attempt: int = 1) -> SeenWorkflowRun:
    """A run as GitHub shows it."""
    return SeenWorkflowRun(100, status, conclusion, attempt, "https://github.com/a/l4/actions/runs/100")


@pytest.mark.parametrize(
    ("reported", "of_run", "found"),
    [
        *(("success", "success", True), ("skipped", "success", True), ("failure", "failure", True)),
        *(("timed_out", "cancelled", True), ("success", "failure", False), ("failure", "success", False)),
        (None, "success", False),
    ],
)
def test_a_run_bears_out_what_ended_as_it_did(reported: str | None, of_run: str, found: bool) -> None:
    """Well or not well; which way of not well is the job's own matter."""
    assert borne_out(reported, 1, run(of_run)) is found


def test_a_run_that_is_not_over_tells_nothing_yet() -> None:
    """A run ends after its jobs."""
    assert borne_out("success", 1, run(None, "in_progress")) is None


def test_attempts_are_told_apart() -> None:
    """Of an earlier attempt it is only seen that it was; one that never was, and a run that never was, is not seen."""
    assert borne_out("success", 1, run(None, "in_progress", attempt=2)) is True
    assert borne_out("success", 2, run("success", attempt=1)) is False
    assert borne_out("success", 1, None) is False


def test_what_is_shown_upstream_is_looked_up_and_a_sample_of_the_rest(stage: Stage) -> None:
    """Of those who only report, about one in `SAMPLE`; the same job always or never."""

    def planned(job: BackendJob, level: Level) -> bool:
        plan(job, level, stage.clock())
        return job.deadline_at is not None

    assert planned(completed(stage.clock()), Level.L4)
    assert planned(completed(stage.clock()), Level.L3)
    chosen = sum(planned(completed(stage.clock(), identity=f"{n:08x}".ljust(64, "0")), Level.L2) for n in range(1_000))
    assert chosen == 1_000 // SAMPLE


@pytest.mark.parametrize("columns", [{"run_id": "0198-uuid"}, {"assumed": "no report"}])
def test_what_cannot_be_looked_up_is_not_planned(stage: Stage, columns: dict[str, str]) -> None:
    """Runs of another CI, and ends that nobody reported."""
    job = completed(stage.clock(), **columns)
    plan(job, Level.L4, stage.clock())
    assert job.deadline_at is None


def test_a_job_in_progress_keeps_its_deadline(stage: Stage) -> None:
    """It is the sweep's for another reason."""
    job = a_job(stage.clock())
    before = job.deadline_at
    plan(job, Level.L4, stage.clock())
    assert job.deadline_at == before


def reported(stage: Stage, conclusion: str = "success") -> int:
    """A report that is due to be looked up."""
    job = completed(stage.clock(), conclusion)
    plan(job, Level.L4, stage.clock())
    with stage.context.store.writing() as session:
        session.add(job)
    stage.clock.tick(PAUSE.total_seconds())
    return job.id


def due(stage: Stage) -> list[int]:
    """What is to be looked up now."""
    with stage.context.store.reading() as session:
        return due_jobs(session, stage.clock())


@pytest.mark.parametrize(("of_run", "found", "kind"), [("success", True, "verified"), ("failure", False, "unverified")])
def test_what_was_found_is_kept_beside_the_report(stage: Stage, of_run: str, found: bool, kind: str) -> None:
    """Once; the report itself stays as it is."""
    job_id = reported(stage)
    assert due(stage) == [job_id]
    stage.github.runs["a/l4", 100] = run(of_run)
    assert verify(stage.context, job_id) is found
    job = stage.job(job_id)
    assert (job.verified, job.conclusion, stage.history(job_id), due(stage)) == (found, "success", [kind], [])


@pytest.mark.parametrize("error", [GitHubError("no answer"), GitHubError("rate limit", status=429)])
def test_while_it_cannot_be_told_it_is_asked_again(stage: Stage, error: GitHubError) -> None:
    """An outage says nothing of the report; who has more to look up hears of it."""
    job_id = reported(stage)
    stage.github.fail("workflow_run", error)
    with pytest.raises(GitHubError):
        verify(stage.context, job_id)
    assert (stage.job(job_id).verified, due(stage)) == (None, [])
    stage.clock.tick(PAUSE.total_seconds())
    assert due(stage) == [job_id]


def test_what_could_not_be_told_for_days_is_not_borne_out(stage: Stage) -> None:
    """Nobody waits for ever."""
    job_id = reported(stage)
    stage.github.runs["a/l4", 100] = run(None, "in_progress")
    stage.clock.tick(stage.context.settings.crcr_status_ttl_s)
    verify(stage.context, job_id)
    assert (stage.job(job_id).verified, due(stage)) == (False, [])


def test_where_github_refuses_to_tell_it_is_not_borne_out(stage: Stage) -> None:
    """For example without the right to read that repository's runs."""
    job_id = reported(stage)
    stage.github.fail("workflow_run", GitHubError("Not accessible", status=403))
    assert verify(stage.context, job_id) is False
    assert stage.job(job_id).verified is False
