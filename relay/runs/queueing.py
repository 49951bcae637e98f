"""The queue of a device as `relay.runs.scheduling` wants it, read from the record in a fixed number of queries.

Reads only. What a run whose tests are not chosen yet may take is the mean of the device's newest finished runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session

from relay.queue_views import WorkClass
from relay.runs.presence import MISSED_BEATS, PRESENCE_EVERY_S
from relay.runs.scheduling import DueRun, Queue
from relay.store.models import Run, Shard, ShardState
from relay.store.presence_models import Worker
from relay.views import RunState

#: Device time older than this does not count against a group.
USE_WINDOW = timedelta(hours=1)
_PRESENT = timedelta(seconds=MISSED_BEATS * PRESENCE_EVERY_S)
#: Finished runs that tell what a run takes; and how many runs are looked through for them.
_TYPICAL_OF, _REACH = 20, 500
_UNSELECTED = frozenset({RunState.RECEIVED, RunState.SELECTING})


def load_queue(session: Session, device: str, now: datetime) -> Queue:
    """Who waits for this device, who is at work on it, and how many workers it has."""
    due = session.execute(_due(device)).all()
    leases = _leases(session, device)
    unselected = any(row.state in _UNSELECTED for row in due)
    typical_s = _typical_s(session, device) if unselected else 0.0
    return Queue(
        due=tuple(
            DueRun(
                run_id=row.id,
                work_class=row.work_class,
                group=row.group_key,
                age_s=max(0.0, (now - row.created_at).total_seconds()),
                shards=row.shards,
                expected_s=typical_s if row.state in _UNSELECTED else row.expected_s,
                asked=row.asked,
            )
            for row in due
        ),
        slots=max(_slots(session, device, now), sum(leases.values())),
        leases=leases,
        used_s=_used_s(session, device, now) if len(due) > 1 else {},
    )


def _due(device: str) -> Select[tuple[int, WorkClass, str, datetime, RunState, bool, int, float]]:
    waiting = (
        select(Shard.run_id, func.count().label("shards"), func.sum(Shard.expected_s).label("expected_s"))
        .where(Shard.state == ShardState.DUE)
        .group_by(Shard.run_id)
        .subquery()
    )
    columns = (Run.id, Run.work_class, Run.group_key, Run.created_at, Run.state, Run.asked)
    query = select(*columns, waiting.c.shards, waiting.c.expected_s).join(waiting, waiting.c.run_id == Run.id)
    return query.where(Run.device == device)


def _leases(session: Session, device: str) -> dict[tuple[WorkClass, str], int]:
    query = (
        select(Run.work_class, Run.group_key, func.count())
        .join(Shard, Shard.run_id == Run.id)
        .where(Shard.state == ShardState.LEASED, Run.device == device)
        .group_by(Run.work_class, Run.group_key)
    )
    return {(row[0], row[1]): row[2] for row in session.execute(query)}


def _used_s(session: Session, device: str, now: datetime) -> Mapping[str, float]:
    query = (
        select(Run.group_key, func.sum(Run.served_s))
        .where(Run.device == device, Run.served_at > now - USE_WINDOW)
        .group_by(Run.group_key)
    )
    return {row[0]: row[1] for row in session.execute(query)}


def _slots(session: Session, device: str, now: datetime) -> int:
    present = (Worker.device == device, Worker.left_at.is_(None), Worker.seen_at > now - _PRESENT)
    return session.scalar(select(func.sum(Worker.concurrency)).where(*present)) or 0


def _typical_s(session: Session, device: str) -> float:
    newest = select(func.max(Run.id) - _REACH).scalar_subquery()
    of_device = (Run.device == device, Run.state == RunState.FINISHED, Run.id > newest, Run.served_s > 0)
    last = select(Run.served_s).where(*of_device).order_by(Run.id.desc()).limit(_TYPICAL_OF).subquery()
    return session.scalar(select(func.avg(last.c.served_s))) or 0.0
