"""The queue of a device as `relay.runs.scheduling` wants it, read from the record in a fixed number of queries.

Reads only. What a run whose tests are not chosen yet may take is the mean of the device's newest finished runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from relay.queue_views import WorkClass
from relay.runs.presence import MISSED_BEATS, PRESENCE_EVERY_S
from relay.runs.scheduling import DueRun, Queue
from relay.runs.states import FINAL_RUN_STATES
from relay.store.models import Run, Shard, ShardState
from relay.store.presence_models import Worker
from relay.views import RunState

#: Device time older than this does not count against a group.
USE_WINDOW = timedelta(hours=1)
_PRESENT = timedelta(seconds=MISSED_BEATS * PRESENCE_EVERY_S)
#: Finished runs that tell what a run takes; and how many runs are looked through for them.
_TYPICAL_OF, _REACH = 20, 500
_UNSELECTED = frozenset({RunState.RECEIVED, RunState.SELECTING})
_OPEN = tuple(state for state in RunState if state not in FINAL_RUN_STATES)


class _OpenRun(NamedTuple):
    id: int
    work_class: WorkClass
    group_key: str
    created_at: datetime
    state: RunState
    asked: bool


def load_queue(session: Session, device: str, now: datetime) -> Queue:
    """Who waits for this device, who is at work on it, and how many workers it has."""
    runs = _open_runs(session, device)
    due, leases = _shards(session, runs)
    typical_s = _typical_s(session, device)
    return Queue(
        due=tuple(_due_run(runs[run_id], *counted, typical_s, now) for run_id, counted in due.items()),
        slots=max(_slots(session, device, now), sum(leases.values())),
        leases=leases,
        used_s=_used_s(session, device, now),
    )


def _due_run(run: _OpenRun, shards: int, expected_s: float, typical_s: float, now: datetime) -> DueRun:
    return DueRun(
        run_id=run.id,
        work_class=run.work_class,
        group=run.group_key,
        age_s=max(0.0, (now - run.created_at).total_seconds()),
        shards=shards,
        expected_s=typical_s if run.state in _UNSELECTED else expected_s,
        asked=run.asked,
    )


def _open_runs(session: Session, device: str) -> dict[int, _OpenRun]:
    columns = (Run.id, Run.work_class, Run.group_key, Run.created_at, Run.state, Run.asked)
    rows = session.execute(select(*columns).where(Run.state.in_(_OPEN), Run.device == device))
    return {row.id: _OpenRun(*row) for row in rows}


def _shards(
    session: Session, runs: Mapping[int, _OpenRun]
) -> tuple[dict[int, tuple[int, float]], Counter[tuple[WorkClass, str]]]:
    """How many are due, and of how many seconds, by run; and how many are at work, by class and group. Not joined in
    the database, which makes the wrong plan of it while many shards are new to its statistics."""
    query = (
        select(Shard.run_id, Shard.state, func.count(), func.sum(Shard.expected_s))
        .where(Shard.state.in_((ShardState.DUE, ShardState.LEASED)))
        .group_by(Shard.state, Shard.run_id)
    )
    due: dict[int, tuple[int, float]] = {}
    leases: Counter[tuple[WorkClass, str]] = Counter()
    for run_id, state, count, expected_s in session.execute(query):
        run = runs.get(run_id)
        if run is None:
            continue  # of another device
        if state is ShardState.DUE:
            due[run_id] = (count, expected_s)
        else:
            leases[run.work_class, run.group_key] += count
    return due, leases


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
