"""A pull request moved on or was closed: what is still running for its earlier commits is of no use any more.

Its jobs are marked in their history; they may still report, and what they report counts for their own commit. Only if
the operator wants it, GitHub is asked to cancel their runs. Source: crcr-protocol 8, W22.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import exists, func, select
from sqlalchemy.orm import Session

from relay.crcr.check_runs import run_number
from relay.crcr.endings import ending_of
from relay.crcr.pr_context import part, upstream_context
from relay.github.types import GitHubError
from relay.intake.events import moved_at
from relay.intake.pull_heads import is_behind
from relay.outbox.queue import NewItem, enqueue_all
from relay.outbox.types import Ending, Letter, Sent
from relay.parts import GitHub
from relay.settings import RelaySettings
from relay.store.crcr_models import BackendJob, BackendJobEvent, JobState, OutboxItem, OutboxKind

#: The kind of the line in a job's history.
SUPERSEDED = "superseded"
#: GitHub's answer to the cancelling of what has ended, and of what is not there.
_OVER = frozenset({404, 409})


def supersede(session: Session, settings: RelaySettings, payload: Mapping[str, Any], now: datetime) -> Sequence[int]:
    """Mark the pending jobs that a `pull_request` webhook makes useless: those of other commits after `synchronize`,
    all after `closed`; none after one that came late. Their ids; a job is marked once."""
    action, pull = payload.get("action"), upstream_context("pull_request", payload)
    if pull.pr_number is None or action not in ("synchronize", "closed"):
        return ()
    if action == "synchronize" and not pull.head_sha:
        return ()
    jobs = _pending(session, settings, pull.pr_number, except_of=pull.head_sha if action == "synchronize" else None)
    if jobs and is_behind(session, settings.upstream_repo, pull.pr_number, moved_at(part(payload, "pull_request"))):
        return ()
    reason = "the pull request was closed" if action == "closed" else f"the pull request moved on to {pull.head_sha}"
    session.add_all(BackendJobEvent(job_id=job.id, at=now, kind=SUPERSEDED, text=reason) for job in jobs)
    if settings.crcr_cancel_superseded:
        enqueue_all(session, _cancellations(jobs), now)
    return tuple(job.id for job in jobs)


def _pending(session: Session, settings: RelaySettings, number: int, *, except_of: str | None) -> Sequence[BackendJob]:
    marked = exists().where(BackendJobEvent.job_id == BackendJob.id, BackendJobEvent.kind == SUPERSEDED)
    wanted = select(BackendJob).where(
        BackendJob.state == JobState.IN_PROGRESS,
        func.lower(BackendJob.upstream_repo) == settings.upstream_repo.lower(),
        BackendJob.pr_number == number,
        # A push to a tag of the pull request was asked for by itself.
        BackendJob.event_type == "pull_request",
        ~marked,
    )
    if except_of is not None:
        wanted = wanted.where(BackendJob.head_sha != except_of)
    return session.scalars(wanted.order_by(BackendJob.id)).all()


def _cancellations(jobs: Sequence[BackendJob]) -> Sequence[NewItem]:
    """One for each run of GitHub's; a run of another CI cannot be cancelled from here."""
    items: dict[str, NewItem] = {}
    for job in jobs:
        number = run_number(job.run_id)
        if number is not None:
            key = f"cancel/{job.repo_key}/{number}/{job.run_attempt}"
            items[key] = NewItem(OutboxKind.CANCEL, key, key, job.repo, {"run_id": number}, job_id=job.id)
    return tuple(items.values())


class CancelSender:
    """Cancels runs of backends."""

    def __init__(self, github: GitHub) -> None:
        self._github = github

    def send(self, letter: Letter) -> Ending:
        """Ask for it. What is over, or was never there, needs no cancelling."""
        try:
            self._github.cancel_run(letter.target, letter.body["run_id"])
        except GitHubError as error:
            return Sent() if error.status in _OVER else ending_of(error)
        return Sent()

    def settle(self, session: Session, item: OutboxItem, ending: Ending, now: datetime) -> None:
        """There are no books: the job itself reports its end."""
