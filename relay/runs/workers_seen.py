"""Which workers there are, by the leases they took. Reads only.

Workers are not registered anywhere: they ask for work when they are woken, and hold a lease while they do it. So a
worker at work is known by its heartbeats, and an idle one by the last run it worked on.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import func, select, union
from sqlalchemy.orm import Session

from relay.now_views import WorkerNow, WorkerState
from relay.store.models import Run, RunEvent, Shard, ShardState

#: Idle workers are forgotten after a day: they may have been taken away.
FORGOTTEN_AFTER = timedelta(days=1)
#: Shards looked at, the newest ones, so that the question costs the same however long the record is.
_REACH = 5_000
_SHOWN = 100
#: Heartbeats come every third of a lease: after two thirds, two are missing.
_SILENT = 2 / 3


def workers_seen(session: Session, now: datetime, *, lease_seconds: float, device: str = "") -> tuple[WorkerNow, ...]:
    """Workers of the last day, at work first, then the last seen first. `lease_seconds` is how long a lease lasts, by
    which its last heartbeat is known."""
    rows = _last_shards(session, device)
    events = _last_events(session, [shard.run_id for shard, _ in rows])
    found: dict[tuple[str, str], WorkerNow] = {}
    for shard, of_device in rows:
        at = _seen_at(shard, events, lease_seconds)
        if at is not None and now - at <= FORGOTTEN_AFTER:
            found.setdefault((shard.lease_worker, of_device), _worker(shard, of_device, at, now, lease_seconds))
    ranked = sorted(found.values(), key=lambda seen: (seen.state is WorkerState.IDLE, now - seen.seen_at, seen.name))
    return tuple(ranked[:_SHOWN])


def starting_workers(workers: Sequence[WorkerNow]) -> int:
    """How many may take the next piece of work."""
    return sum(worker.state is not WorkerState.SILENT for worker in workers)


def _last_shards(session: Session, device: str) -> list[tuple[Shard, str]]:
    """Leased shards, and the last one of each worker, with their devices; leased ones first."""
    reach = select(func.max(Shard.id) - _REACH).scalar_subquery()
    last = select(func.max(Shard.id)).where(Shard.id > reach, Shard.lease_worker != "").group_by(Shard.lease_worker)
    leased = select(Shard.id).where(Shard.state == ShardState.LEASED)
    query = (
        select(Shard, Run.device)
        .join(Run, Run.id == Shard.run_id)
        .where(Shard.id.in_(union(leased, last)))  # an OR of the two would read every shard
        .order_by(Shard.state != ShardState.LEASED, Shard.id.desc())
        .limit(_SHOWN * 2)
    )
    if device:
        query = query.where(Run.device == device)
    return [(shard, of_device) for shard, of_device in session.execute(query)]


def _last_events(session: Session, run_ids: Sequence[int]) -> dict[int, datetime]:
    last = select(func.max(RunEvent.id)).where(RunEvent.run_id.in_(run_ids)).group_by(RunEvent.run_id)
    rows = session.execute(select(RunEvent.run_id, RunEvent.at).where(RunEvent.id.in_(last)))
    return {row[0]: row[1] for row in rows}


def _seen_at(shard: Shard, events: dict[int, datetime], lease_seconds: float) -> datetime | None:
    if shard.state is ShardState.LEASED and shard.lease_expires_at is not None:
        return shard.lease_expires_at - timedelta(seconds=lease_seconds)
    return events.get(shard.run_id)


def _worker(shard: Shard, device: str, at: datetime, now: datetime, lease_seconds: float) -> WorkerNow:
    silent = (now - at).total_seconds() > lease_seconds * _SILENT
    state = WorkerState.SILENT if silent else WorkerState.WORKING
    return WorkerNow(
        name=shard.lease_worker,
        device=device,
        state=state if shard.state is ShardState.LEASED else WorkerState.IDLE,
        seen_at=at,
        run_id=shard.run_id,
        kind=shard.kind,
        attempt=shard.attempt,
        progress=shard.progress,
    )
