"""Whether GitHub's own record of a run bears out what a backend reported of its job (crcr-protocol 8, W7).

A backend may declare any conclusion. Those that are shown upstream are looked up, and a sample of the others; what was
found is kept beside the report and changes nothing of it. `verified` False means not borne out, which is no proof of
the contrary: a run tells of all its jobs together.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr.check_runs import run_number
from relay.github.types import GitHubError, SeenWorkflowRun
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, BackendJobEvent, JobState

#: Of the jobs of backends that only report, one in so many is looked up.
SAMPLE = 20
#: A run ends after its last job: this long after a report it is looked at first, and again.
PAUSE = timedelta(minutes=10)
#: Of one sweep.
BATCH = 200
#: What a run that succeeded bears out.
_HARMLESS = frozenset({"success", "neutral", "skipped"})
_RUN_OVER = "completed"


def plan(job: BackendJob, level: Level, now: datetime) -> None:
    """Have a job that has just completed looked up. For a completed job, the time to look is what `deadline_at` is: the
    sweep then finds it by the same index as those that are overdue."""
    if job.state is JobState.COMPLETED and not job.assumed and run_number(job.run_id) is not None:
        job.verified = None
        if level >= Level.L3 or int(job.identity[:8], 16) % SAMPLE == 0:
            job.deadline_at = now + PAUSE


def due_jobs(session: Session, now: datetime) -> list[int]:
    """The jobs that are to be looked up now, the longest waiting first."""
    wanted = select(BackendJob.id).where(BackendJob.state == JobState.COMPLETED, BackendJob.deadline_at <= now)
    return list(session.scalars(wanted.order_by(BackendJob.deadline_at, BackendJob.id).limit(BATCH)))


def verify(context: RelayContext, job_id: int) -> bool | None:
    """Look one job up and note what was found; None when that cannot be told yet.

    Raises:
        GitHubError: GitHub did not answer. The job is put off; whoever has more to look up had better wait, too.
    """
    with context.store.reading() as session:
        job = session.get_one(BackendJob, job_id)
    try:
        found = _look_up(context, job)
    except GitHubError:
        _put_down(context, job_id, None)
        raise
    _put_down(context, job_id, found)
    return found


def borne_out(conclusion: str | None, attempt: int, run: SeenWorkflowRun | None) -> bool | None:
    """Whether a run, as it is now, bears out the conclusion of a job of one of its attempts; None while it is not
    over. Of an earlier attempt GitHub tells here only that it was."""
    if run is None or run.run_attempt < attempt:
        return False
    if run.run_attempt > attempt:
        return True
    if run.status != _RUN_OVER:
        return None
    return (conclusion in _HARMLESS) == (run.conclusion in _HARMLESS)


def _look_up(context: RelayContext, job: BackendJob) -> bool | None:
    number = run_number(job.run_id)
    if context.crcr is None or context.crcr.github is None or number is None:
        return None
    try:
        run = context.crcr.github.workflow_run(job.repo, number)
    except GitHubError as error:
        if error.passing:
            raise
        return False
    return borne_out(job.conclusion, job.run_attempt, run)


def _put_down(context: RelayContext, job_id: int, found: bool | None) -> None:
    with context.store.writing() as session:
        job = session.get_one(BackendJob, job_id, with_for_update=True)
        # A late report may have changed what is to be borne out while we asked.
        if job.deadline_at is not None and job.state is JobState.COMPLETED:
            _note(session, context.settings, job, found, context.now())


def _note(session: Session, settings: RelaySettings, job: BackendJob, found: bool | None, now: datetime) -> None:
    given_up = job.completed_at is None or job.completed_at + timedelta(seconds=settings.crcr_status_ttl_s) <= now
    if found is None and not given_up:
        job.deadline_at = now + PAUSE
        return
    job.deadline_at = None
    job.verified = bool(found)
    text = "GitHub's record of the run bears it out" if found else "GitHub's record of the run does not bear it out"
    session.add(BackendJobEvent(job_id=job.id, at=now, kind="verified" if found else "unverified", text=text))
