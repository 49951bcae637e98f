"""A callback moves the job that it is about, once. Whose job it is, and of which change, its dispatch tells.

What follows from a step (results, check runs) is `relay.crcr.effects`.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.allowlist.types import Backend
from relay.crcr.callback import COMPLETED, Callback, CallbackRefusedError
from relay.crcr.idempotency import job_identity, report_digest
from relay.crcr.job_record import (
    TRIES,
    Taken,
    find_job,
    insert_job,
    note_callback,
    overtaken,
    seconds_between,
    update_job,
)
from relay.crcr.job_states import APPLIED, STATUSES, Step, known_of, next_step
from relay.crcr.matching import Match, match_dispatch, note_answer
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, JobState

#: The run id that the original keeps for the dispatch itself.
_RESERVED_RUN = "0"


def take_callback(
    session: Session, settings: RelaySettings, backend: Backend, callback: Callback, now: datetime
) -> Taken:
    """Move the job that a backend's callback is about.

    Raises:
        CallbackRefusedError: 400 without a dispatch or out of order, 403 without its nonce, 409 when it contradicts
            what the job said before.
    """
    match = match_dispatch(session, settings, backend, callback, now=now)
    if callback.status not in STATUSES:
        raise CallbackRefusedError(400, f"unknown callback status: {callback.status}")
    move = _Move(session, settings, backend, match, callback, now)
    for _ in range(TRIES):
        taken = move.attempt()
        if taken is not None:
            note_answer(session, match.dispatch, now)
            return taken
    raise overtaken()


def invalid_transition(callback: Callback, repo: str) -> CallbackRefusedError:
    """The refusal of a step that the state machine does not have, in the original's words."""
    place = f"delivery_id={callback.delivery_id} repo={repo} status={callback.status}"
    return CallbackRefusedError(400, f"callback rejected: invalid state transition {place}")


@dataclass(frozen=True, slots=True)
class _Move:
    """One callback on its way into one job."""

    session: Session
    settings: RelaySettings
    backend: Backend
    match: Match
    callback: Callback
    now: datetime

    def attempt(self) -> Taken | None:
        """What became of it; None when somebody else moved the job meanwhile and it must be decided anew."""
        job = find_job(self.session, job_identity(self.callback, self.backend.key))
        step = self._step(job)
        if job is None:
            job = self._new_job()
            if not insert_job(self.session, job):
                return None
        elif step in APPLIED and not update_job(self.session, job, self._changes(job, step)):
            return None
        if step in APPLIED:
            text = f"echoed otherwise than dispatched: {', '.join(self.match.mismatch)}" if self.match.mismatch else ""
            note_callback(self.session, job, step, self.callback, now=self.now, text=text)
        return Taken(job, step, self.match.mismatch)

    def _step(self, job: BackendJob | None) -> Step:
        """What is to be done.

        Raises:
            CallbackRefusedError: nothing, and that is the caller's mistake.
        """
        callback = self.callback
        known = known_of(job.state, job.in_progress_at, job.assumed) if job else known_of(None, None, "")
        same = job is not None and job.completed_digest == report_digest(callback)
        step = next_step(known, callback.status, same_report=same, strict=self.settings.crcr_strict_compat)
        if step is Step.REFUSE or callback.run_id == _RESERVED_RUN:
            raise invalid_transition(callback, self.backend.repo)
        if step is Step.CONFLICT and job is not None:
            raise _contradiction(job, callback)
        return step

    def _new_job(self) -> BackendJob:
        callback, dispatch = self.callback, self.match.dispatch
        job = BackendJob(
            identity=job_identity(callback, self.backend.key),
            delivery_id=dispatch.delivery_id,
            repo=self.backend.repo,
            repo_key=self.backend.key,
            workflow=callback.workflow,
            job_name=callback.job_name or "",
            run_id=callback.run_id,
            run_attempt=callback.run_attempt,
            event_type=dispatch.event_type,
            upstream_repo=dispatch.upstream_repo,
            pr_number=dispatch.pr_number,
            head_sha=dispatch.head_sha,
            assumed="",
        )
        ended = callback.status == COMPLETED
        for name, value in (self._common(None) | (self._finish(None) if ended else self._start())).items():
            setattr(job, name, value)
        return job

    def _changes(self, job: BackendJob, step: Step) -> dict[str, Any]:
        common = self._common(job)
        if step is Step.LATE_START:
            # Its end stays as it is, and so does the callback that told of it: only the start was missing. How long it
            # waited and ran cannot be told from when we heard of a start that was overtaken.
            late = {"in_progress_at": self.now, "started_at": self.callback.started_at or job.started_at}
            kept = {key: value for key, value in common.items() if key != "callback"}
            return kept | late | {"in_progress_digest": report_digest(self.callback)}
        return common | self._finish(job)

    def _common(self, job: BackendJob | None) -> dict[str, Any]:
        """What every step takes from its callback."""
        callback, known = self.callback, list(job.mismatch) if job else []
        return {
            "level": self.backend.level.name,
            "url": callback.url or (job.url if job else ""),
            "reported_check": callback.check_run_id or (job.reported_check if job else ""),
            "mismatch": known + [name for name in self.match.mismatch if name not in known],
            "callback": dict(callback.body),
        }

    def _start(self) -> dict[str, Any]:
        return {
            "state": JobState.IN_PROGRESS,
            "in_progress_at": self.now,
            "started_at": self.callback.started_at,
            "queue_time": seconds_between(self._waits_since(), self.now),
            "deadline_at": self.now + timedelta(seconds=self.settings.crcr_zombie_timeout_s),
            "in_progress_digest": report_digest(self.callback),
        }

    def _finish(self, job: BackendJob | None) -> dict[str, Any]:
        callback = self.callback
        return {
            "state": JobState.COMPLETED,
            "conclusion": callback.conclusion,
            "assumed": "",
            "completed_at": self.now,
            "started_at": callback.started_at or (job.started_at if job else None),
            "ended_at": callback.ended_at,
            "execution_time": seconds_between(job.in_progress_at if job else None, self.now),
            "deadline_at": None,
            "completed_digest": report_digest(callback),
        }

    def _waits_since(self) -> datetime | None:
        """Since when this attempt has been waiting. A later attempt waits since somebody asked for it, which only we
        know when we did it ourselves; the original counts from the dispatch, and so ever longer."""
        if self.callback.run_attempt == 1 or self.settings.crcr_strict_compat:
            return self.match.dispatch.dispatched_at or self.match.dispatch.queued_at
        return self._rerun_requested_at()

    def _rerun_requested_at(self) -> datetime | None:
        """When this attempt was asked for through us: that is kept with the attempts before it."""
        earlier = (
            BackendJob.delivery_id == self.match.dispatch.delivery_id,
            BackendJob.repo_key == self.backend.key,
            BackendJob.run_id == self.callback.run_id,
            BackendJob.run_attempt < self.callback.run_attempt,
        )
        return self.session.scalar(select(func.max(BackendJob.rerun_requested_at)).where(*earlier))


def _contradiction(job: BackendJob, callback: Callback) -> CallbackRefusedError:
    stored = {"status": str(job.state), "conclusion": job.conclusion}
    message = f"callback rejected: the job completed before with another result than {callback.conclusion}"
    return CallbackRefusedError(409, {"message": message, "stored": stored})
