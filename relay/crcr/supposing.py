"""The end of a job that never told its own: what is supposed, why, and how it takes effect.

GitHub is asked first; the supposition is stored as one, with its reason, and the truth replaces it when it comes. The
strict mode judges as the original does: by the clock alone, only once its HUD took the news. Source: crcr-protocol
3.6, 8 (W8).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.orm import Session

from relay.allowlist.types import Level
from relay.context import RelayContext
from relay.crcr import check_runs, effects, hud_forward
from relay.crcr.callback import COMPLETED, CallbackRefusedError
from relay.crcr.check_runs import run_number
from relay.crcr.job_record import seconds_between, update_job
from relay.github.types import GitHubError, SeenWorkflowRun
from relay.store.crcr_models import BackendJob, BackendJobEvent, JobState

_log = structlog.get_logger(__name__)

TIMED_OUT = "timed_out"
#: The kind of the line in a job's history.
SUPPOSED = "supposed"
#: A run that GitHub still sees running is looked at again after this.
PATIENCE = timedelta(minutes=10)
#: What a run's conclusion tells of each of its jobs. Of a failed run nobody knows which job it was.
_TELLING = frozenset({"success", "cancelled"})


@dataclass(frozen=True, slots=True)
class Supposed:
    """The end that a job is supposed to have had, and why."""

    conclusion: str
    reason: str


def supposed_end(attempt: int, run: SeenWorkflowRun | None, limit_s: float) -> Supposed | None:
    """How an overdue job is supposed to have ended, by its run on GitHub (None: there is none to be seen). None: that
    run is still going on, so nothing is supposed."""
    silent = f"no report within {limit_s:g} s"
    if run is None or run.run_attempt != attempt:
        return Supposed(TIMED_OUT, silent)
    if run.status != COMPLETED:
        return None
    reason = f"{silent}; on GitHub its run ended with {run.conclusion or 'no conclusion'}"
    return Supposed(run.conclusion if run.conclusion in _TELLING and run.conclusion else TIMED_OUT, reason)


def supposed_callback(job: BackendJob, conclusion: str, now: datetime) -> dict[str, Any]:
    """The callback that a job would have sent now, by what it sent before."""
    known = job.callback.get("workflow")
    workflow = dict(known) if isinstance(known, dict) else _workflow_of(job)
    at = now.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    ended = {**workflow, "status": COMPLETED, "conclusion": conclusion, "completed_at": at}
    return {"delivery_id": job.delivery_id, **job.callback, "workflow": ended}


def suppose(context: RelayContext, job_id: int, level: Level) -> bool | None:
    """Suppose one overdue job's end. True when it has one now, whoever gave it; None when it is still at work; False
    when GitHub could not be asked, so that the next sweep has to."""
    with context.store.reading() as session:
        job = session.get(BackendJob, job_id)
    if job is None:
        return None
    try:
        end = supposed_end(job.run_attempt, _run_of(context, job), context.settings.crcr_zombie_timeout_s)
    except GitHubError as error:
        _log.warning("run_not_seen", repo=job.repo, run=job.run_id, reason=error.message)
        return False
    with context.store.writing() as session:
        return _put_down(context, session, job_id, level, end)


def suppose_strictly(context: RelayContext, job_id: int, level: Level) -> bool | None:
    """The same in the original's way: check run, HUD, and only then the job's state. False when the HUD failed: the
    next sweep does all of it again. None for a job that the original loses."""
    now, settings = context.now(), context.settings
    end = Supposed(TIMED_OUT, f"no report within {settings.crcr_zombie_timeout_s:g} s")
    with context.store.writing() as session:
        # Its key stays as it is: a label that has letters about this job written waits for nobody here.
        job = session.get_one(BackendJob, job_id, with_for_update={"key_share": True})
        if job.state is not JobState.IN_PROGRESS:
            return True
        if _is_lost_by_original(job.job_name):
            job.deadline_at = None
            return None
        session.expunge(job)
        _foresee(job, end, now)
        if check_runs.is_shown(session, job, level):
            check_runs.show(session, settings, job, now)
    posted = hud_forward.job_envelope(job, level.name, job.callback)
    try:
        hud_forward.forward_now(settings, posted)
    except CallbackRefusedError as error:
        _log.warning("hud_failed_in_sweep", job=job_id, reason=str(error))
        return False
    with context.store.writing() as session:
        if update_job(session, session.get_one(BackendJob, job_id), _changes(job, end, now)):
            effects.record(session, settings, posted, now)
    return True


def _put_down(context: RelayContext, session: Session, job_id: int, level: Level, end: Supposed | None) -> bool | None:
    job, now = session.get_one(BackendJob, job_id), context.now()
    if job.state is not JobState.IN_PROGRESS:
        return True  # it reported while GitHub was asked
    if end is None:
        update_job(session, job, {"deadline_at": now + PATIENCE})
        return None
    if update_job(session, job, _changes(job, end, now)):
        session.add(BackendJobEvent(job_id=job.id, at=now, kind=SUPPOSED, text=f"{end.conclusion}: {end.reason}"))
        effects.apply(session, context.settings, job, job.callback, level=level, now=now, assumed=end.reason)
    return True


def _changes(job: BackendJob, end: Supposed, now: datetime) -> dict[str, Any]:
    return {
        "state": JobState.COMPLETED,
        "conclusion": end.conclusion,
        "assumed": end.reason,
        "completed_at": now,
        "execution_time": seconds_between(job.in_progress_at, now),
        "deadline_at": None,
        "callback": supposed_callback(job, end.conclusion, now),
    }


def _foresee(job: BackendJob, end: Supposed, now: datetime) -> None:
    """Let a copy that belongs to no session look as the job will."""
    for name, value in _changes(job, end, now).items():
        setattr(job, name, value)
    job.assumed = ""


def _workflow_of(job: BackendJob) -> dict[str, Any]:
    names = {"name": job.workflow, "job_name": job.job_name, "url": job.url, "check_run_id": job.reported_check}
    return {**names, "run_id": job.run_id, "run_attempt": job.run_attempt, "started_at": job.started_at}


def _run_of(context: RelayContext, job: BackendJob) -> SeenWorkflowRun | None:
    """The job's run, if GitHub tells of it.

    Raises:
        GitHubError: it does not now, and may later.
    """
    number = run_number(job.run_id)
    github = context.crcr.github if context.crcr is not None else None
    if github is None or number is None:
        return None
    try:
        return github.workflow_run(job.repo, number)
    except GitHubError as error:
        if error.passing:
            raise
        # It never will be told, for example without the App's right to read Actions there.
        return None


def _is_lost_by_original(job_name: str) -> bool:
    """Whether the original cannot read its own note of such a job, and drops it without a word."""
    return ":" in job_name and not job_name.rpartition(":")[2].isdecimal()
