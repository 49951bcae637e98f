"""Who works on which shard, and until when. Owns leasing, heartbeats and expiry; results are `relay.runs.reporting`'s.

A lease is the right of one worker to one shard. It ends by itself when the heartbeats stop, so a killed worker needs
no goodbye. All functions work inside the caller's writing session.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from sqlalchemy import Select, func, select, update
from sqlalchemy.orm import Session

from relay.contract import Expected, Heartbeat, ShardKind, is_weak_sandbox
from relay.errors import LeaseLostError, NotFoundError
from relay.runs import shard_lines
from relay.runs.endings import give_back
from relay.runs.lease_ids import answered_with, lease_id_of
from relay.runs.queueing import load_queue
from relay.runs.reconcile import reconcile
from relay.runs.scheduling import Policy, Queue, is_deep, order, people_wait_s
from relay.runs.states import FINAL_RUN_STATES, lock_run, lock_run_of, transition
from relay.store.models import PlannedTest, Run, Shard, ShardState
from relay.store.one_by_one import one_by_one
from relay.views import RunState


@dataclass(frozen=True, slots=True)
class LeaseTerms:
    """How long a lease lasts (seconds), how often a shard is tried, and in which order runs are served."""

    lease_seconds: float
    max_attempts: int
    policy: Policy = field(default_factory=Policy)

    def expiry(self, now: datetime) -> datetime:
        return now + timedelta(seconds=self.lease_seconds)


@dataclass(frozen=True, slots=True)
class LeasedTest:
    """A planned test that its worker is to run."""

    test_id: str
    file: str
    expected: Expected
    isolate: bool
    timeout_s: float | None


@dataclass(frozen=True, slots=True)
class LeasedShard:
    """A shard that was just leased, its run, and the tests of it that still want a verdict. `backlog_s` is how long the
    queue is for each worker, in seconds, when it is deep; else 0."""

    run: Run
    shard: Shard
    tests: tuple[LeasedTest, ...]
    backlog_s: float = 0.0


def lease_next(
    session: Session,
    device: str,
    worker: str,
    now: datetime,
    terms: LeaseTerms,
    *,
    sandbox: str = "",
    request: str = "",
) -> LeasedShard | None:
    """Lease a due shard of the run that the policy puts first on this device, or None when nothing is due. `sandbox` is
    how the worker says that it confines tests; `request` names its question, and is empty when it names none. A named
    question that comes again is a heartbeat of the lease it was answered with, and is told what is left to do of it.

    Who asks at the same moment waits for us and sees our lease, so that shares and limits hold over all replicas. Of
    runs we lock one at a time, and let go of it when its shards are gone meanwhile: the policy's order is not that of
    ids, in which several may be locked. (Skipping runs that others hold would hide their due shards.)
    """
    one_by_one(session, device)
    queue = load_queue(session, device, now)
    held = _held(session, device, worker, request)
    if held is not None:
        held[1].lease_expires_at = terms.expiry(now)
        return _told(session, *held, queue, terms.policy)
    for placed in order(queue, terms.policy):
        attempt = session.begin_nested()
        run = lock_run(session, placed.run.run_id)
        shard = session.scalar(_first_due_shard(placed.run.run_id))
        if run is None or shard is None:
            attempt.rollback()
            continue
        attempt.commit()
        lease_id = lease_id_of(request, device, shard.id, shard.attempt + 1)
        _lease(session, shard, worker, now, lease_id=lease_id, expires_at=terms.expiry(now), sandbox=sandbox)
        _start(session, run, shard, now)
        return _told(session, run, shard, queue, terms.policy)
    return None


def _held(session: Session, device: str, worker: str, request: str) -> tuple[Run, Shard] | None:
    """What this question was answered with before, under the run's lock, if that lease still lasts."""
    shard_id = answered_with(session, device, worker, request)
    if shard_id is None:
        return None
    attempt = session.begin_nested()
    run, shard = locked_shard(session, shard_id)
    if shard.state is not ShardState.LEASED or shard.lease_id != lease_id_of(request, device, shard.id, shard.attempt):
        attempt.rollback()  # it ended while we waited
        return None
    attempt.commit()
    return run, shard


def _told(session: Session, run: Run, shard: Shard, queue: Queue, policy: Policy) -> LeasedShard:
    tests = _tests_without_verdict(session, shard.id)
    return LeasedShard(run, shard, tests, people_wait_s(queue) if is_deep(queue, policy) else 0.0)


def _lease(
    session: Session, shard: Shard, worker: str, now: datetime, *, lease_id: str, expires_at: datetime, sandbox: str
) -> None:
    attempt = shard.attempt + 1
    # What an earlier worker reported is kept, so what it lacked is too.
    lacking = is_weak_sandbox(shard.sandbox)
    transition(
        session,
        shard,
        ShardState.LEASED,
        now,
        shard_lines.leased(shard.ordinal, shard.kind, worker, attempt),
        attempt=attempt,
        lease_id=lease_id,
        lease_worker=worker,
        sandbox=shard.sandbox if lacking else sandbox,
        sandbox_of=shard.sandbox_of if lacking else worker,
        leased_at=now,
        lease_expires_at=expires_at,
        progress="",
    )
    session.execute(
        update(Run).where(Run.id == shard.run_id).values(served_at=now),
        execution_options={"synchronize_session": False},
    )


def _start(session: Session, run: Run, shard: Shard, now: datetime) -> None:
    """The first lease of a kind moves the run on."""
    if run.state is RunState.RECEIVED and shard.kind is ShardKind.SELECT:
        transition(session, run, RunState.SELECTING, now, "Selecting tests.", started_at=now)
    elif run.state is RunState.PLANNED and shard.kind is ShardKind.TEST:
        transition(session, run, RunState.RUNNING, now, "Running tests.")


def heartbeat(session: Session, shard_id: int, beat: Heartbeat, now: datetime, terms: LeaseTerms) -> bool:
    """Renew a lease. True when the run was cancelled and the worker should stop.

    Raises:
        NotFoundError: no such shard.
        LeaseLostError: the lease is not the shard's current one.
    """
    run, shard = locked_shard(session, shard_id)
    if run.state in FINAL_RUN_STATES and shard.lease_id == beat.lease_id:
        return True
    require_lease(shard, beat.lease_id)
    shard.lease_expires_at = terms.expiry(now)
    if beat.progress:
        shard.progress = beat.progress
    return False


def expire_leases(session: Session, run_id: int, now: datetime, terms: LeaseTerms) -> int:
    """End the leases of a run whose heartbeats stopped, and move the run on. How many ended."""
    run = lock_run(session, run_id)
    if run is None:
        return 0
    overdue = session.scalars(
        select(Shard)
        .where(Shard.run_id == run_id, Shard.state == ShardState.LEASED, Shard.lease_expires_at < now)
        .order_by(Shard.ordinal)
    ).all()
    for shard in overdue:
        give_back(session, shard, terms.max_attempts, now, f"no heartbeat from worker {shard.lease_worker}")
    reconcile(session, run, now)
    return len(overdue)


def runs_with_overdue_leases(session: Session, now: datetime) -> tuple[int, ...]:
    """The runs `expire_leases` has something to do for."""
    query = select(Shard.run_id).where(Shard.state == ShardState.LEASED, Shard.lease_expires_at < now)
    return tuple(session.scalars(query.distinct().order_by(Shard.run_id)))


def due_shards(session: Session) -> dict[str, int]:
    """How many shards are due, by device; devices without any are left out."""
    query = select(Run.device, func.count(Shard.id)).join(Shard, Shard.run_id == Run.id)
    rows = session.execute(query.where(Shard.state == ShardState.DUE).group_by(Run.device))
    return {row[0]: row[1] for row in rows}


def locked_shard(session: Session, shard_id: int) -> tuple[Run, Shard]:
    """A shard and its run, under the run's lock.

    Raises:
        NotFoundError: no such shard.
    """
    run = lock_run_of(session, shard_id)
    # Read once more, and not with the run: while we waited for the lock its holder may have moved it on.
    shard = session.get(Shard, shard_id, populate_existing=True) if run is not None else None
    if run is None or shard is None:
        raise NotFoundError(f"There is no shard {shard_id}.", "Ask for a lease to get a shard.")
    return run, shard


def require_lease(shard: Shard, lease_id: str) -> None:
    """Refuse everybody but the present holder.

    Raises:
        LeaseLostError: the lease is not the shard's current one.
    """
    if shard.state is not ShardState.LEASED or shard.lease_id != lease_id:
        raise LeaseLostError(
            f"The lease of shard {shard.id} has ended: the shard is {shard.state}.",
            "Stop working on it and ask for another lease.",
        )


def _first_due_shard(run_id: int) -> Select[Shard]:
    query = select(Shard).where(Shard.run_id == run_id, Shard.state == ShardState.DUE)
    return query.order_by(Shard.ordinal).limit(1).execution_options(populate_existing=True)


def _tests_without_verdict(session: Session, shard_id: int) -> tuple[LeasedTest, ...]:
    told = (PlannedTest.test_id, PlannedTest.file, PlannedTest.expected, PlannedTest.isolate, PlannedTest.timeout_s)
    query = select(*told).where(PlannedTest.shard_id == shard_id, PlannedTest.verdict.is_(None))
    return tuple(LeasedTest(*row) for row in session.execute(query.order_by(PlannedTest.id)))
