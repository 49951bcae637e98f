"""The sweep of the protocol: jobs that never told their end, dispatches nobody answered, reports to be looked up.

Owns which rows are due and the counts; what is then supposed of a job is `relay.crcr.supposing`. One job's trouble
never keeps another from being swept, and several replicas may sweep at once. A GitHub that does not answer ends the
pass: each of a thousand jobs would wait for it in vain. The next pass goes on with those that were not asked about.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

import structlog
from sqlalchemy import func, select, update
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from relay.allowlist.types import Allowlist, Level
from relay.context import RelayContext
from relay.crcr import verification
from relay.crcr.supposing import suppose, suppose_strictly
from relay.github.types import GitHubError
from relay.parts import AllowlistUnavailableError
from relay.store.crcr_models import BackendJob, Dispatch, DispatchState, JobState

_log = structlog.get_logger(__name__)

#: Of one sweep; the rest comes with the next.
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class _Pass:
    """One pass, until it is told to stop or GitHub is found to be `away`."""

    context: RelayContext
    stopping: Callable[[], bool]
    away: threading.Event = field(default_factory=threading.Event)

    def is_over(self) -> bool:
        """Whether no job more is begun."""
        return self.away.is_set() or self.stopping()


def sweep(context: RelayContext, stopping: Callable[[], bool] = lambda: False) -> Mapping[str, int]:
    """One sweep: how many overdue jobs were `cleaned`, how many could not be (`errors`), how many dispatches were given
    up as `not_started`, how many reports were found `verified`. The strict mode only cleans. Once `stopping` is true,
    no job more is begun; neither once GitHub does not answer, but for the strict mode, which does not ask it.

    Raises:
        AllowlistUnavailableError: in strict mode only, there are overdue jobs and no allowlist.
    """
    strict = context.settings.crcr_strict_compat
    this = _Pass(context, stopping)
    overdue = _overdue(context)
    levels = _levels(context, overdue)
    settle = partial(suppose_strictly, context) if strict else partial(_suppose, this)
    ended = _each(this, lambda job_id: settle(job_id, levels[job_id]), tuple(levels))
    counts = {"cleaned": ended.count(True), "errors": ended.count(False)}
    if strict:
        return counts
    return counts | {"not_started": _give_up_unanswered(context), "verified": _look_up(this)}


def _overdue(context: RelayContext) -> Mapping[int, tuple[str, str]]:
    """The repository and the last known level of each job whose time is over."""
    wanted = select(BackendJob.id, BackendJob.repo, BackendJob.level).where(
        BackendJob.state == JobState.IN_PROGRESS, BackendJob.deadline_at <= context.now()
    )
    with context.store.reading() as session:
        _warn_of_many(session, context.settings.crcr_in_progress_warn)
        found = session.execute(wanted.order_by(BackendJob.deadline_at, BackendJob.id).limit(BATCH))
        return {row.id: (row.repo, row.level) for row in found}


def _warn_of_many(session: Session, threshold: int) -> None:
    jobs = session.scalar(select(func.count()).where(BackendJob.state == JobState.IN_PROGRESS)) or 0
    if jobs > threshold:
        _log.warning("many_jobs_in_progress", jobs=jobs, threshold=threshold)


def _levels(context: RelayContext, overdue: Mapping[int, tuple[str, str]]) -> Mapping[int, Level]:
    """The level of each job's backend now; of one that is not listed any more, that of its last report."""
    allowlist = _allowlist(context) if overdue else Allowlist()
    found = {job_id: allowlist.find(repo) for job_id, (repo, _) in overdue.items()}
    return {
        job_id: Level[overdue[job_id][1]] if backend is None else backend.level for job_id, backend in found.items()
    }


def _allowlist(context: RelayContext) -> Allowlist:
    """The allowlist, asked for once in a sweep. Jobs that are overdue are settled without one, too."""
    try:
        return context.crcr.allowlist.current().allowlist if context.crcr is not None else Allowlist()
    except AllowlistUnavailableError as error:
        if context.settings.crcr_strict_compat:
            raise
        _log.warning("sweep_without_allowlist", reason=str(error))
        return Allowlist()


def _give_up_unanswered(context: RelayContext) -> int:
    """Note the dispatches of which no job was ever heard. L1 backends never report, so nothing is missed of them."""
    now, settings = context.now(), context.settings
    latest = now - timedelta(seconds=settings.crcr_zombie_timeout_s)
    unanswered = select(Dispatch.id, Dispatch.repo, Dispatch.delivery_id).where(
        Dispatch.state == DispatchState.DISPATCHED,
        Dispatch.dispatched_at <= latest,
        # Older ones cannot be answered any more; without a bound, every sweep would read all there ever was.
        Dispatch.dispatched_at > latest - timedelta(seconds=settings.crcr_status_ttl_s),
        Dispatch.answered_at.is_(None),
        Dispatch.level != Level.L1.name,
    )
    with context.store.writing() as session:
        found = session.execute(unanswered.limit(BATCH)).all()
        given_up = update(Dispatch).where(Dispatch.id.in_([row.id for row in found]), Dispatch.answered_at.is_(None))
        session.execute(given_up.values(not_started_at=now, answered_at=now))
    for row in found:
        _log.warning("backend_not_started", repo=row.repo, delivery=row.delivery_id)
    return len(found)


def _suppose(this: _Pass, job_id: int, level: Level) -> bool | None:
    ended = suppose(this.context, job_id, level)
    if ended is False:
        this.away.set()
        _put_behind(this.context, job_id)
    return ended


def _put_behind(context: RelayContext, job_id: int) -> None:
    """It stays overdue, behind the others: should GitHub never tell of it, the next passes do not all end at it."""
    mine = update(BackendJob).where(BackendJob.id == job_id, BackendJob.state == JobState.IN_PROGRESS)
    with context.store.writing() as session:
        session.execute(mine.values(deadline_at=context.now()))


def _look_up(this: _Pass) -> int:
    if this.is_over():
        return 0
    with this.context.store.reading() as session:
        due = verification.due_jobs(session, this.context.now())
    return _each(this, partial(_verify, this), due).count(True)


def _verify(this: _Pass, job_id: int) -> bool | None:
    try:
        return verification.verify(this.context, job_id)
    except GitHubError as error:
        _log.warning("report_not_verified", job=job_id, reason=error.message)
        this.away.set()
        return None


def _each(this: _Pass, work: Callable[[int], bool | None], ids: Sequence[int]) -> list[bool | None]:
    if not ids:
        return []
    with ThreadPoolExecutor(min(len(ids), this.context.settings.crcr_cleanup_workers)) as pool:
        return list(pool.map(partial(_guarded, this, work), ids))


def _guarded(this: _Pass, work: Callable[[int], bool | None], job_id: int) -> bool | None:
    """None for a job that is left to the next pass."""
    if this.is_over():
        return None
    try:
        return work(job_id)
    except SQLAlchemyError as error:
        _log.warning("sweep_step_failed", job=job_id, fault=type(error).__name__)
        return False
