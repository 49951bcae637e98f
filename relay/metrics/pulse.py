"""What the record tells of the service at this moment, in a fixed number of queries over indexes, and some for each
device with a queue. Reads only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session, load_only

from relay.contract import ShardKind
from relay.now_views import WorkerState
from relay.queue_views import Backlog, WorkClass
from relay.runs.lines import backlog_of
from relay.runs.queueing import load_queue
from relay.runs.scheduling import Policy
from relay.runs.states import FINAL_RUN_STATES
from relay.runs.workers_seen import Sighting, sightings
from relay.store.crcr_models import OutboxItem, OutboxKind, OutboxState
from relay.store.duty_models import Duty
from relay.store.models import Delivery, DeliveryState, Run, Selection, Shard, ShardState
from relay.views import Conclusion, RunState

#: The duty whose age tells whether anybody sweeps.
SWEEP = "sweep"
#: Runs that ended and are looked at, the newest ones: enough to see a change, few enough to be read at each scrape.
RECENT_RUNS = 200
_RECENT_SELECTIONS = 50
_UNFINISHED = tuple(state for state in RunState if state not in FINAL_RUN_STATES)
_OPEN_OUTBOX = (OutboxState.DUE, OutboxState.SENDING, OutboxState.DEAD)


@dataclass(frozen=True, slots=True)
class StageFlow:
    """Tests that entered and left a stage of the selector, over recent selections."""

    stage: int
    name: str
    entered: int
    left: int


@dataclass(frozen=True, slots=True)
class Pulse:
    """Ages are seconds; None where nothing is waiting, or nothing ever happened."""

    sweep_age_s: float | None
    inbox_waiting: int
    inbox_age_s: float | None
    outbox: Mapping[tuple[OutboxKind, OutboxState], int]
    outbox_age_s: float | None
    runs: Mapping[tuple[str, RunState], int]
    shards: Mapping[tuple[str, ShardState], int]
    queue_age_s: Mapping[tuple[str, WorkClass], float]
    backlogs: Mapping[str, Backlog]
    workers: Mapping[tuple[str, WorkerState], int]
    heartbeat_age_s: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Recent:
    """How the newest runs went: conclusions, sorted seconds from the webhook to the verdict by device, sorted
    imbalances of their shards by device (`relay.runs.balance`), and stages."""

    ended: Mapping[tuple[str, Conclusion], int]
    verdict_s: Mapping[str, tuple[float, ...]] = field(repr=False)
    imbalances: Mapping[str, tuple[float, ...]] = field(repr=False)
    stages: tuple[StageFlow, ...]


def take_pulse(session: Session, now: datetime, *, lease_seconds: float, policy: Policy | None = None) -> Pulse:
    """How the service is. `lease_seconds` is how long a lease lasts, by which heartbeats of workers are known, `policy`
    the order of the queue."""
    waiting, oldest = session.execute(
        select(func.count(), func.min(Delivery.received_at)).where(Delivery.state == DeliveryState.RECEIVED)
    ).one()
    swept = session.scalar(select(Duty.done_at).where(Duty.name == SWEEP))
    due = session.scalar(select(func.min(OutboxItem.due_at)).where(OutboxItem.state == OutboxState.DUE))
    queue = _queue(session)
    workers = sightings(session, now, lease_seconds=lease_seconds)
    return Pulse(
        sweep_age_s=_age(now, swept),
        inbox_waiting=waiting,
        inbox_age_s=_age(now, oldest),
        outbox=_outbox(session),
        outbox_age_s=_age(now, due) if due is not None and due <= now else None,
        runs=_runs(session),
        shards=_shards(session),
        queue_age_s={device: (now - since).total_seconds() for device, since in queue.items()},
        backlogs={
            device: backlog_of(load_queue(session, device, now), policy or Policy())
            for device in sorted({device for device, _ in queue})
        },
        workers=Counter((worker.device, worker.state) for worker in workers),
        heartbeat_age_s=_heartbeats(workers, now),
    )


def look_back(session: Session) -> Recent:
    """How the newest runs went. Reads some hundred rows: for figures, not for a probe."""
    ended = _ended(session)
    return Recent(
        ended=Counter((run.device, run.conclusion) for run in ended if run.conclusion is not None),
        verdict_s=_times(ended),
        imbalances=_imbalances(session, ended),
        stages=_stages(session),
    )


def _age(now: datetime, since: datetime | None) -> float | None:
    return None if since is None else max(0.0, (now - since).total_seconds())


def _heartbeats(workers: Iterable[Sighting], now: datetime) -> dict[str, float]:
    """Of those that are there or ought to be, by device."""
    ages: dict[str, float] = {}
    for worker in workers:
        if worker.state is not WorkerState.LEFT:
            age = (now - worker.seen_at).total_seconds()
            ages[worker.device] = min(age, ages.get(worker.device, age))
    return ages


def _queue(session: Session) -> dict[tuple[str, WorkClass], datetime]:
    """When the oldest run was asked for of which a part waits for a worker, by device and class."""
    query = select(Run.device, Run.work_class, func.min(Run.created_at)).join(Shard, Shard.run_id == Run.id)
    rows = session.execute(query.where(Shard.state == ShardState.DUE).group_by(Run.device, Run.work_class))
    return {(row[0], row[1]): row[2] for row in rows}


def _outbox(session: Session) -> dict[tuple[OutboxKind, OutboxState], int]:
    query = select(OutboxItem.kind, OutboxItem.state, func.count()).where(OutboxItem.state.in_(_OPEN_OUTBOX))
    return {(row[0], row[1]): row[2] for row in session.execute(query.group_by(OutboxItem.state, OutboxItem.kind))}


def _runs(session: Session) -> dict[tuple[str, RunState], int]:
    query = select(Run.device, Run.state, func.count()).where(Run.state.in_(_UNFINISHED))
    return {(row[0], row[1]): row[2] for row in session.execute(query.group_by(Run.device, Run.state))}


def _shards(session: Session) -> dict[tuple[str, ShardState], int]:
    query = select(Run.device, Shard.state, func.count()).join(Run, Run.id == Shard.run_id)
    rows = session.execute(
        query.where(Shard.state.in_((ShardState.DUE, ShardState.LEASED))).group_by(Run.device, Shard.state)
    )
    return {(row[0], row[1]): row[2] for row in rows}


def _ended(session: Session) -> list[Run]:
    columns = load_only(Run.device, Run.conclusion, Run.created_at, Run.finished_at)
    query = select(Run).where(Run.state.in_(FINAL_RUN_STATES)).options(columns)
    return list(session.scalars(query.order_by(Run.id.desc()).limit(RECENT_RUNS)))


def _times(ended: list[Run]) -> dict[str, tuple[float, ...]]:
    found: dict[str, list[float]] = {}
    for run in ended:
        if run.finished_at is not None:
            found.setdefault(run.device, []).append((run.finished_at - run.created_at).total_seconds())
    return {device: tuple(sorted(times)) for device, times in found.items()}


def _imbalances(session: Session, ended: list[Run]) -> dict[str, tuple[float, ...]]:
    """Of runs with more than one shard of tests, all of which were done."""
    devices = {run.id: run.device for run in ended}
    took, shards = Shard.took_s, func.count()
    done = func.sum(case((Shard.state == ShardState.DONE, 1), else_=0))
    query = (
        select(Shard.run_id, func.max(took) / func.avg(took))
        .where(Shard.run_id.in_(devices), Shard.kind == ShardKind.TEST)
        .group_by(Shard.run_id)
        .having(shards > 1, done == shards, func.min(took) > 0)
    )
    found: dict[str, list[float]] = {}
    for run_id, imbalance in session.execute(query):
        found.setdefault(devices[run_id], []).append(imbalance)
    return {device: tuple(sorted(values)) for device, values in found.items()}


def _stages(session: Session) -> tuple[StageFlow, ...]:
    newest = select(Selection).options(load_only(Selection.funnel)).order_by(Selection.run_id.desc())
    flows: dict[tuple[int, str], tuple[int, int]] = {}
    for selection in session.scalars(newest.limit(_RECENT_SELECTIONS)):
        for step in selection.funnel:
            entered, left = flows.get((step["stage"], step["name"]), (0, 0))
            flows[step["stage"], step["name"]] = (entered + step["entered"], left + step["left"])
    return tuple(StageFlow(stage, name, *flow) for (stage, name), flow in sorted(flows.items()))
