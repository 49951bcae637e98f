"""Reports of scheduled runs, which nobody dispatched (crcr-protocol 3.7): a backend tells of a commit on its own.

Such a report is of a commit and never of a pull request; what it echoes of one is taken out. It comes once, at the end.
Neither dispatches nor deadlines nor checks are touched. The later of two reports wins, and history keeps both.
"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy.orm import Session

from relay.allowlist.types import Backend
from relay.crcr.callback import COMPLETED, Callback, CallbackRefusedError
from relay.crcr.idempotency import job_identity, report_digest
from relay.crcr.job_record import TRIES, Taken, find_job, insert_job, note_callback, overtaken, update_job
from relay.crcr.job_states import Step
from relay.settings import RelaySettings
from relay.store.crcr_models import SHA_CAP, BackendJob, JobState

SELF_REPORTED = frozenset({"nightly", "periodic"})

#: SHA-1, or SHA-256 in repositories of that format.
_SHA = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
#: What readers recover a pull request from (crcr-protocol 1.7).
_OF_PULL_REQUESTS = ("pull_request", "number", "ref", "after")


def is_self_report(callback: Callback) -> bool:
    """Whether the callback is of a run that nobody dispatched."""
    return callback.event_type in SELF_REPORTED


def checked_report(callback: Callback, upstream_repo: str, *, strict: bool) -> Callback:
    """The report without what makes it look like a pull request's. `strict` keeps it as it is.

    Raises:
        CallbackRefusedError: 400, it is not of the end of a run, not of a commit, or of another upstream.
    """
    if callback.status != COMPLETED:
        raise CallbackRefusedError(400, f"{callback.event_type} callbacks must have status 'completed'")
    if strict:
        return callback
    if not _SHA.fullmatch(callback.delivery_id):
        raise CallbackRefusedError(400, f"delivery_id of a {callback.event_type} callback must be the tested commit")
    claimed = callback.claimed
    if claimed.upstream_repo and claimed.upstream_repo.casefold() != upstream_repo.casefold():
        raise CallbackRefusedError(400, f"this relay takes results of {upstream_repo} only")
    payload = callback.body.get("payload") or {}
    told = payload.get("head_sha")
    if told and str(told).lower() != callback.delivery_id.lower():
        raise CallbackRefusedError(400, "delivery_id and payload.head_sha name different commits")
    kept = {key: value for key, value in payload.items() if key not in _OF_PULL_REQUESTS}
    if len(kept) == len(payload):
        return callback
    return replace(callback, body={**callback.body, "payload": kept})


def commit_of(callback: Callback) -> str:
    """The commit that a report is about; empty when it names none that could be one."""
    payload = callback.body.get("payload")
    told = payload.get("head_sha") if isinstance(payload, dict) else None
    sha = told if isinstance(told, str) and _SHA.fullmatch(told) else callback.delivery_id
    return sha.lower() if _SHA.fullmatch(sha) else sha if len(sha) <= SHA_CAP else ""


def take_report(
    session: Session, settings: RelaySettings, backend: Backend, callback: Callback, now: datetime
) -> Taken:
    """Keep a report that `checked_report` let through; one that says nothing new is a repeat.

    Raises:
        CallbackRefusedError: 503, too many others report the same job at once.
    """
    identity = job_identity(callback, backend.key)
    told = _told(settings, backend, callback, now)
    for _ in range(TRIES):
        job = find_job(session, identity)
        if job is None:
            job = _new_job(settings, backend, callback, told)
            kept = insert_job(session, job)
        elif job.completed_digest == report_digest(callback) and not settings.crcr_strict_compat:
            return Taken(job, Step.REPEAT)
        else:
            kept = update_job(session, job, told)
        if kept:
            note_callback(session, job, Step.FINISH, callback, now=now)
            return Taken(job, Step.FINISH)
    raise overtaken()


def _new_job(settings: RelaySettings, backend: Backend, callback: Callback, told: dict[str, Any]) -> BackendJob:
    return BackendJob(
        identity=job_identity(callback, backend.key),
        delivery_id=callback.delivery_id,
        repo=backend.repo,
        repo_key=backend.key,
        workflow=callback.workflow,
        job_name=callback.job_name or "",
        run_id=callback.run_id,
        run_attempt=callback.run_attempt,
        event_type=callback.event_type,
        upstream_repo=settings.upstream_repo,
        head_sha=commit_of(callback),
        assumed="",
        in_progress_digest="",
        **told,
    )


def _told(settings: RelaySettings, backend: Backend, callback: Callback, now: datetime) -> dict[str, Any]:
    return {
        "level": backend.level.name,
        "state": JobState.COMPLETED,
        "conclusion": callback.conclusion,
        "completed_at": now,
        "started_at": callback.started_at,
        "ended_at": callback.ended_at,
        "url": callback.url,
        "reported_check": callback.check_run_id,
        "callback": dict(callback.body),
        "completed_digest": report_digest(callback),
    }
