"""What is going on: runs that are not over, by device, with their place in the queue, and who works. Reads only, in a
number of queries that depends on the devices alone.

Queued is a run no part of which a worker has; the queue is in the order in which `relay.runs.leases` serves it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice

from sqlalchemy import func, select
from sqlalchemy.orm import Session, defer

from relay.now_views import DeviceNow, Expectation, NowView, RunNow, ShardsNow, WorkerNow, WorkerState
from relay.queue_views import Backlog
from relay.runs.event_listing import newest_event_id
from relay.runs.expectations import PastRun, expect, kind_of, past_runs, plans_of
from relay.runs.lines import Line, line_of
from relay.runs.queries import summaries
from relay.runs.scheduling import Policy
from relay.runs.states import FINAL_RUN_STATES
from relay.runs.worker_differences import differences
from relay.runs.workers_seen import starting_workers, workers_seen
from relay.store.models import Run, Shard, ShardState
from relay.views import RunState

_OPEN_STATES = tuple(state for state in RunState if state not in FINAL_RUN_STATES)
#: Runs at work that are looked at, the oldest ones; the others are counted.
_LOOKED_AT = 300
#: Of the queue of a device, so many are shown.
_QUEUE_SHOWN = 50


@dataclass(frozen=True, slots=True)
class _Shards:
    counts: ShardsNow
    workers: tuple[str, ...]


_NO_SHARDS = _Shards(ShardsNow(), ())
_NOBODY_WAITS = Line({}, Backlog())


def now_board(
    session: Session,
    public_url: str,
    own_devices: tuple[str, ...],
    now: datetime,
    *,
    lease_seconds: float,
    device: str = "",
    policy: Policy | None = None,
) -> NowView:
    """Every device with open runs or workers, and those that are served, in the order of their names; or one alone."""
    last_event = newest_event_id(session)  # first: what is read below is at least as new
    totals = _totals(session, device)
    workers = _there(session, now, lease_seconds, device)
    known = {*totals, *(worker.device for worker in workers), *((device,) if device else own_devices)}
    lines = {name: line_of(session, name, now, policy or Policy()) for name in totals}
    at_work = _at_work(session, device)
    runs = _shown(session, at_work, lines.values())
    states = _states(session, runs, public_url, now)
    return NowView(
        devices=tuple(
            _device(
                name,
                {run_id: states[run_id] for run_id in states if states[run_id].run.device == name},
                lines.get(name, _NOBODY_WAITS),
                totals.get(name, 0),
                tuple(worker for worker in workers if worker.device == name),
            )
            for name in sorted(known)
        ),
        last_event=last_event,
    )


def _there(session: Session, now: datetime, lease_seconds: float, device: str) -> tuple[WorkerNow, ...]:
    seen = workers_seen(session, now, lease_seconds=lease_seconds, device=device)
    return tuple(worker for worker in seen if worker.state is not WorkerState.LEFT)


def _at_work(session: Session, device: str) -> Sequence[int]:
    """Runs a part of which a worker has, the oldest first."""
    query = select(Shard.run_id).where(Shard.state == ShardState.LEASED)
    if device:
        query = query.join(Run, Run.id == Shard.run_id).where(Run.device == device)
    return session.scalars(query.distinct().order_by(Shard.run_id).limit(_LOOKED_AT)).all()


def _shown(session: Session, at_work: Sequence[int], lines: Iterable[Line]) -> Sequence[Run]:
    """Those at work, and the first that wait on each device."""
    waiting = (islice((run_id for run_id in line.placed if run_id not in at_work), _QUEUE_SHOWN) for line in lines)
    wanted = [*at_work, *chain.from_iterable(waiting)]
    query = select(Run).where(Run.id.in_(wanted), Run.state.in_(_OPEN_STATES))
    return session.scalars(query.options(defer(Run.body, raiseload=True)).order_by(Run.id)).all()


def _totals(session: Session, device: str) -> dict[str, int]:
    query = select(Run.device, func.count()).where(Run.state.in_(_OPEN_STATES)).group_by(Run.device)
    if device:
        query = query.where(Run.device == device)
    return {row[0]: row[1] for row in session.execute(query)}


def _states(session: Session, runs: Sequence[Run], public_url: str, now: datetime) -> dict[int, RunNow]:
    ids = [run.id for run in runs]
    shards, plans = _shards(session, ids), plans_of(session, ids)
    past = past_runs(session, {run.device for run in runs})
    return {
        run.id: RunNow(
            run=summary,
            elapsed_s=max(0.0, (now - (run.started_at or run.created_at)).total_seconds()),
            expected=_expected(run, plans, past),
            shards=shards.get(run.id, _NO_SHARDS).counts,
            workers=shards.get(run.id, _NO_SHARDS).workers,
        )
        for run, summary in zip(runs, summaries(session, runs, public_url), strict=True)
    }


def _expected(run: Run, plans: Mapping[int, float], past: Mapping[str, Sequence[PastRun]]) -> Expectation | None:
    return expect(past.get(run.device, ()), kind_of(run.full, run.only), plans.get(run.id, 0.0))


def _shards(session: Session, ids: Sequence[int]) -> dict[int, _Shards]:
    query = (
        select(Shard.run_id, Shard.state, Shard.lease_worker, func.count())
        .where(Shard.run_id.in_(ids))
        .group_by(Shard.run_id, Shard.state, Shard.lease_worker)
        .order_by(Shard.lease_worker)
    )
    counts: dict[int, dict[ShardState, int]] = {}
    workers: dict[int, list[str]] = {}
    for run_id, state, worker, count in session.execute(query):
        of_run = counts.setdefault(run_id, {})
        of_run[state] = of_run.get(state, 0) + count
        if state is ShardState.LEASED:
            workers.setdefault(run_id, []).append(worker)
    return {run_id: _Shards(_counted(found), tuple(workers.get(run_id, ()))) for run_id, found in counts.items()}


def _counted(found: Mapping[ShardState, int]) -> ShardsNow:
    waiting, at_work = found.get(ShardState.DUE, 0), found.get(ShardState.LEASED, 0)
    return ShardsNow(waiting=waiting, at_work=at_work, ended=sum(found.values()) - waiting - at_work)


def _device(
    name: str, states: Mapping[int, RunNow], line: Line, total: int, workers: tuple[WorkerNow, ...]
) -> DeviceNow:
    told = {run_id: state.model_copy(update={"waiting": line.placed.get(run_id)}) for run_id, state in states.items()}
    running = tuple(state for state in told.values() if state.shards.at_work)
    waiting = [told[run_id] for run_id in line.placed if run_id in told and not told[run_id].shards.at_work]
    return DeviceNow(
        device=name,
        running=running,
        queued=queue(running, waiting[:_QUEUE_SHOWN], starting_workers(workers)),
        queued_total=total - len(running),
        workers=workers,
        differences=differences(workers),
        backlog=line.backlog,
    )


def queue(running: Sequence[RunNow], waiting: Sequence[RunNow], workers: int) -> tuple[RunNow, ...]:
    """The waiting runs with their places, and a guess when each starts: what is left of the runs before it, shared by
    the workers there are. There is no guess without a worker, or behind a run of which nothing is expected."""
    ahead = [_left(state) for state in running]
    placed = []
    for place, state in enumerate(waiting, start=1):
        known = [seconds for seconds in ahead if seconds is not None]
        guess = sum(known) / workers if workers and len(known) == len(ahead) else None
        placed.append(state.model_copy(update={"place": place, "starts_in_s": guess}))
        ahead.append(state.expected.seconds if state.expected else None)
    return tuple(placed)


def _left(state: RunNow) -> float | None:
    return max(0.0, state.expected.seconds - state.elapsed_s) if state.expected else None
