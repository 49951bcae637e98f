"""The sweep of the protocol: jobs that never told their end, dispatches nobody answered, reports to be looked up.

Owns which rows are due and the counts; what is then supposed of a job is `relay.crcr.supposing`. One job's trouble
never keeps another from being swept, and several replicas may sweep at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
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
from relay.parts import AllowlistUnavailableError
from relay.store.crcr_models import BackendJob, Dispatch, DispatchState, JobState

_log = structlog.get_logger(__name__)

#: Of one sweep; the rest comes with the next.
BATCH = 1_000


def sweep(context: RelayContext) -> Mapping[str, int]:
    """One sweep: how many overdue jobs were `cleaned`, how many could not be (`errors`), how many dispatches were given
    up as `not_started`, how many reports were found `verified`. The strict mode only cleans.

    Raises:
        AllowlistUnavailableError: in strict mode only, there are overdue jobs and no allowlist.
    """
    strict = context.settings.crcr_strict_compat
    overdue = _overdue(context)
    levels = _levels(context, overdue)
    settle = suppose_strictly if strict else suppose
    ended = _each(context, lambda job_id: settle(context, job_id, levels[job_id]), tuple(levels))
    counts = {"cleaned": ended.count(True), "errors": ended.count(False)}
    if strict:
        return counts
    return counts | {"not_started": _give_up_unanswered(context), "verified": _look_up(context)}


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


def _look_up(context: RelayContext) -> int:
    with context.store.reading() as session:
        due = verification.due_jobs(session, context.now())
    return _each(context, partial(verification.verify, context), due).count(True)


def _each(context: RelayContext, work: Callable[[int], bool | None], ids: Sequence[int]) -> list[bool | None]:
    if not ids:
        return []
    with ThreadPoolExecutor(min(len(ids), context.settings.crcr_cleanup_workers)) as pool:
        return list(pool.map(partial(_guarded, work), ids))


def _guarded(work: Callable[[int], bool | None], job_id: int) -> bool | None:
    try:
        return work(job_id)
    except SQLAlchemyError as error:
        _log.warning("sweep_step_failed", job=job_id, fault=type(error).__name__)
        return False
