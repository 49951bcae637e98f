"""Which workers there are, by what they say of themselves and by the leases they took. Reads only.

A worker at work is known by the heartbeats of its lease, a waiting one by saying that it is there. One of an older
version says nothing while it waits, and is known by the last run it worked on.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import count

from sqlalchemy import Select, func, select, union
from sqlalchemy.orm import Session

from relay.contract import TestedOn
from relay.now_views import WorkerAbout, WorkerNow, WorkerState
from relay.runs.presence import FORGOTTEN_AFTER, MISSED_BEATS, PRESENCE_EVERY_S
from relay.store.models import Run, RunEvent, Shard, ShardState
from relay.store.presence_models import Worker

#: Shards looked at, the newest ones, so that the question costs the same however long the record is.
_REACH = 5_000
#: Workers told of for each device; those that wait or work come first.
SHOWN = 100
_ROWS = 500
#: Workers and leases that are counted, the newest: far more than anybody has, so that the question has a bound.
_COUNTED = 20_000
#: Heartbeats of a lease come every third of it: after two thirds, two are missing.
_SILENT = 2 / 3
_ORDER = (WorkerState.WORKING, WorkerState.IDLE, WorkerState.UNABLE, WorkerState.SILENT, WorkerState.LEFT)

_Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sighting:
    """A worker as figures count it."""

    device: str
    state: WorkerState
    seen_at: datetime


def workers_seen(session: Session, now: datetime, *, lease_seconds: float, device: str = "") -> tuple[WorkerNow, ...]:
    """Workers of the last day: at work, waiting, unable, silent, gone; in each the last seen first. `lease_seconds` is
    how long a lease lasts, by which its last heartbeat is known."""
    found = _by_leases(session, now, lease_seconds, device)
    for worker in _present(session, now, device):
        key = (worker.name, worker.device)
        found[key] = _joined(worker, found.get(key), now)
    places: defaultdict[str, Iterator[int]] = defaultdict(count)
    ranked = sorted(found.values(), key=lambda seen: _rank(seen, now))
    return tuple(seen for seen in ranked if next(places[seen.device]) < SHOWN)


def sightings(session: Session, now: datetime, *, lease_seconds: float) -> tuple[Sighting, ...]:
    """Every worker of the last day, in the state that `workers_seen` shows it in, and nothing else of it. Pages may be
    cut, but who counts must not lose a device behind the many workers of another."""
    found = dict(_leased_sightings(session, now, lease_seconds))
    for key, sighting in _present_sightings(session, now):
        found.setdefault(key, sighting)
    for key, at in _last_works(session, found):
        if now - at <= FORGOTTEN_AFTER:
            found.setdefault(key, Sighting(key[1], WorkerState.IDLE, at))
    return tuple(found.values())


def starting_workers(workers: Sequence[WorkerNow]) -> int:
    """How many pieces of work may be begun at once."""
    there = [worker for worker in workers if worker.state in {WorkerState.WORKING, WorkerState.IDLE}]
    return sum(worker.about.concurrency if worker.about else 1 for worker in there)


def _rank(seen: WorkerNow, now: datetime) -> tuple[int, timedelta, str]:
    return (0 if seen.leased else _ORDER.index(seen.state), now - seen.seen_at, seen.name)


def _present(session: Session, now: datetime, device: str) -> Sequence[Worker]:
    query = select(Worker).where(Worker.seen_at > now - FORGOTTEN_AFTER).order_by(Worker.seen_at.desc()).limit(_ROWS)
    return session.scalars(query.where(Worker.device == device) if device else query).all()


def _joined(worker: Worker, lease: WorkerNow | None, now: datetime) -> WorkerNow:
    """What a worker says of itself, with what its last lease says. A lease that it holds knows more of its state."""
    about = WorkerAbout(
        version=worker.version,
        concurrency=worker.concurrency,
        sandbox=worker.sandbox,
        manifest_profile=worker.manifest_profile,
        environments=tuple(TestedOn.model_validate(found) for found in worker.environments),
        started_at=worker.started_at,
        trouble=worker.trouble,
    )
    if lease is not None and lease.leased:
        return lease.model_copy(update={"about": about})
    seen = lease or WorkerNow(name=worker.name, device=worker.device, state=WorkerState.IDLE, seen_at=worker.seen_at)
    state = _state(worker.seen_at, worker.left_at, worker.trouble, now=now)
    return seen.model_copy(update={"about": about, "state": state, "seen_at": worker.seen_at})


def _state(seen_at: datetime, left_at: datetime | None, trouble: str, *, now: datetime) -> WorkerState:
    """Of a worker without a lease, by what it says."""
    if left_at is not None:
        return WorkerState.LEFT
    if (now - seen_at).total_seconds() > MISSED_BEATS * PRESENCE_EVERY_S:
        return WorkerState.SILENT
    return WorkerState.UNABLE if trouble else WorkerState.IDLE


def _lease_state(at: datetime, now: datetime, lease_seconds: float) -> WorkerState:
    """Of a worker with a lease, whose last heartbeat came then."""
    silent = (now - at).total_seconds() > lease_seconds * _SILENT
    return WorkerState.SILENT if silent else WorkerState.WORKING


def _leased_sightings(session: Session, now: datetime, lease_seconds: float) -> Iterator[tuple[_Key, Sighting]]:
    """By the newest of a worker's leases, which comes last."""
    query = select(Shard.lease_worker, Run.device, Shard.lease_expires_at).join(Run, Run.id == Shard.run_id)
    newest = query.where(Shard.state == ShardState.LEASED).order_by(Shard.id.desc()).limit(_COUNTED)
    for name, device, expires_at in reversed(session.execute(newest).all()):
        if expires_at is None:
            continue
        at = expires_at - timedelta(seconds=lease_seconds)
        if now - at <= FORGOTTEN_AFTER:
            yield (name, device), Sighting(device, _lease_state(at, now, lease_seconds), at)


def _present_sightings(session: Session, now: datetime) -> Iterator[tuple[_Key, Sighting]]:
    query = select(Worker.name, Worker.device, Worker.seen_at, Worker.left_at, Worker.trouble)
    today = query.where(Worker.seen_at > now - FORGOTTEN_AFTER).order_by(Worker.seen_at.desc()).limit(_COUNTED)
    for name, device, seen_at, left_at, trouble in session.execute(today):
        yield (name, device), Sighting(device, _state(seen_at, left_at, trouble, now=now), seen_at)


def _last_works(session: Session, known: Mapping[_Key, Sighting]) -> Iterator[tuple[_Key, datetime]]:
    """When those without a lease worked last of whom nothing else is known."""
    query = select(Shard.lease_worker, Run.device, Shard.run_id).join(Run, Run.id == Shard.run_id)
    last = query.where(Shard.id.in_(_last_of_each()), Shard.state != ShardState.LEASED)
    rows = [row for row in session.execute(last) if (row[0], row[1]) not in known]
    events = _last_events(session, [run_id for _, _, run_id in rows])
    yield from (((name, device), events[run_id]) for name, device, run_id in rows if run_id in events)


def _by_leases(session: Session, now: datetime, lease_seconds: float, device: str) -> dict[_Key, WorkerNow]:
    rows = _last_shards(session, device)
    events = _last_events(session, [shard.run_id for shard, _ in rows])
    found: dict[_Key, WorkerNow] = {}
    for shard, of_device in rows:
        at = _seen_at(shard, events, lease_seconds)
        if at is not None and now - at <= FORGOTTEN_AFTER:
            found.setdefault((shard.lease_worker, of_device), _worker(shard, of_device, at, now, lease_seconds))
    held = Counter((shard.lease_worker, of_device) for shard, of_device in rows if shard.state is ShardState.LEASED)
    return {key: seen.model_copy(update={"leases": held[key]}) for key, seen in found.items()}


def _last_shards(session: Session, device: str) -> list[tuple[Shard, str]]:
    """Leased shards, and the last one of each worker, with their devices; leased ones first."""
    leased = select(Shard.id).where(Shard.state == ShardState.LEASED)
    query = (
        select(Shard, Run.device)
        .join(Run, Run.id == Shard.run_id)
        .where(Shard.id.in_(union(leased, _last_of_each())))  # an OR of the two would read every shard
        .order_by(Shard.state != ShardState.LEASED, Shard.id.desc())
        .limit(SHOWN * 2)
    )
    if device:
        query = query.where(Run.device == device)
    return [(shard, of_device) for shard, of_device in session.execute(query)]


def _last_of_each() -> Select[int]:
    reach = select(func.max(Shard.id) - _REACH).scalar_subquery()
    return select(func.max(Shard.id)).where(Shard.id > reach, Shard.lease_worker != "").group_by(Shard.lease_worker)


def _last_events(session: Session, run_ids: Sequence[int]) -> dict[int, datetime]:
    last = select(func.max(RunEvent.id)).where(RunEvent.run_id.in_(run_ids)).group_by(RunEvent.run_id)
    rows = session.execute(select(RunEvent.run_id, RunEvent.at).where(RunEvent.id.in_(last)))
    return {row[0]: row[1] for row in rows}


def _seen_at(shard: Shard, events: Mapping[int, datetime], lease_seconds: float) -> datetime | None:
    if shard.state is ShardState.LEASED and shard.lease_expires_at is not None:
        return shard.lease_expires_at - timedelta(seconds=lease_seconds)
    return events.get(shard.run_id)


def _worker(shard: Shard, device: str, at: datetime, now: datetime, lease_seconds: float) -> WorkerNow:
    leased = shard.state is ShardState.LEASED
    return WorkerNow(
        name=shard.lease_worker,
        device=device,
        state=_lease_state(at, now, lease_seconds) if leased else WorkerState.IDLE,
        seen_at=at,
        leased=leased,
        run_id=shard.run_id,
        kind=shard.kind,
        attempt=shard.attempt,
        progress=shard.progress,
    )
