"""Workers and a queue, event by event: the product's own policy says whose shard is next.

Owns time and who is free. A worker that asks gets a shard at once, so a queue that is empty costs no wait; what a lease
and its reports cost is in the seconds of a shard. No chance in here: the same jobs give the same result.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from relay.queue_views import WorkClass
from relay.runs.queueing import USE_WINDOW
from relay.runs.scheduling import DueRun, Policy, Queue, order
from relay.settings import RelaySettings
from tests.benchmarks.simulate_day import Job

#: A worker hears of the end of its run with a heartbeat, of which there are three in a lease: half of that in the mean.
HEARD_AFTER_S = RelaySettings.model_fields["lease_seconds"].default / 3 / 2


@dataclass(frozen=True, slots=True)
class Served:
    """What became of a job: `verdict_s` from its arrival, None when a newer push to the pull request superseded it."""

    job: Job
    verdict_s: float | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """`busy_s` of all workers together, `ended_s` when the last was free, `longest` the most runs that waited."""

    served: Sequence[Served]
    workers: int
    busy_s: float
    ended_s: float
    longest: int

    def verdicts(self, *classes: WorkClass) -> list[float]:
        """Seconds to a verdict, sorted."""
        wanted = classes or tuple(WorkClass)
        found = [(one.job.work_class, one.verdict_s) for one in self.served]
        return sorted(seconds for work_class, seconds in found if seconds is not None and work_class in wanted)


@dataclass(slots=True)
class _Run:
    """A run under way. `due` are the seconds of shards that wait, `due_s` their sum, `leased` when those at work began,
    by worker."""

    number: int
    job: Job
    due: deque[float]
    due_s: float
    selected: bool = False
    leased: dict[int, float] = field(default_factory=dict)
    seen: set[int] = field(default_factory=set)
    over: bool = False


@dataclass(slots=True)
class _Floor:
    """The workers, and what waits for them."""

    policy: Policy
    supersede: bool
    free: list[int]
    waiting: dict[int, _Run] = field(default_factory=dict)
    leases: Counter[tuple[WorkClass, str]] = field(default_factory=Counter)
    used: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    ends: list[tuple[float, int, int, _Run]] = field(default_factory=list)
    current: dict[int, int] = field(default_factory=dict)
    newest: dict[str, _Run] = field(default_factory=dict)
    history: deque[tuple[float, str, float]] = field(default_factory=deque)
    served: list[Served] = field(default_factory=list)
    busy_s: float = 0.0
    longest: int = 0
    events: int = 0


class FallenBehindError(Exception):
    """More runs wait than could ever be served in time."""


def simulate(
    jobs: Iterable[Job],
    workers: int,
    policy: Policy | None = None,
    *,
    supersede: bool = True,
    most_waiting: float = math.inf,
) -> Outcome:
    """Serve all jobs to their end with that many workers of one shard at a time.

    Raises:
        FallenBehindError: as soon as more runs than `most_waiting` wait.
    """
    floor = _Floor(policy or Policy(), supersede, list(range(workers)))
    now = 0.0
    for number, job in enumerate(sorted(jobs, key=lambda one: one.at)):
        now = _work_until(floor, job.at, now)
        if len(floor.waiting) > most_waiting:
            raise FallenBehindError(f"{workers} workers have {len(floor.waiting)} runs before them")
        _arrive(floor, _Run(number, job, deque([job.select_s]), job.select_s), job.at)
        now = job.at
    now = _work_until(floor, math.inf, now)
    return Outcome(floor.served, workers, floor.busy_s, now, floor.longest)


def _work_until(floor: _Floor, until: float, now: float) -> float:
    while floor.ends and floor.ends[0][0] <= until:
        at, event, worker, run = heapq.heappop(floor.ends)
        if floor.current.get(worker) == event:
            now = at
            _end(floor, worker, run, now)
            _lease_all(floor, now)
    return now


def _arrive(floor: _Floor, run: _Run, now: float) -> None:
    if floor.supersede and run.job.work_class is WorkClass.PULL_REQUEST:
        older = floor.newest.get(run.job.group)
        if older is not None and not older.over:
            _supersede(floor, older, now)
        floor.newest[run.job.group] = run
    floor.waiting[run.number] = run
    floor.longest = max(floor.longest, len(floor.waiting))
    _lease_all(floor, now)


def _supersede(floor: _Floor, run: _Run, now: float) -> None:
    """Nothing of it is begun any more; who works on it stops when it hears."""
    run.over = True
    run.due.clear()
    floor.waiting.pop(run.number, None)
    floor.served.append(Served(run.job, None))
    ends = {worker: at for at, event, worker, _ in floor.ends if floor.current.get(worker) == event}
    for worker in run.leased:
        _end_at(floor, min(ends[worker], now + HEARD_AFTER_S), worker, run)


def _lease_all(floor: _Floor, now: float) -> None:
    while floor.free and floor.waiting:
        run = _next(floor, now)
        worker = floor.free.pop()
        seconds = run.due.popleft()
        run.due_s -= seconds
        if not run.due:
            del floor.waiting[run.number]
        if worker not in run.seen:
            seconds += run.job.checkout_s
            run.seen.add(worker)
        run.leased[worker] = now
        floor.leases[run.job.work_class, run.job.group] += 1
        _end_at(floor, now + seconds, worker, run)


def _next(floor: _Floor, now: float) -> _Run:
    if len(floor.waiting) == 1:
        return next(iter(floor.waiting.values()))
    due = tuple(
        DueRun(run.number, run.job.work_class, run.job.group, now - run.job.at, len(run.due), run.due_s)
        for run in floor.waiting.values()
    )
    slots = len(floor.free) + sum(floor.leases.values())
    first, *_ = order(Queue(due, slots, floor.leases, _used(floor, now)), floor.policy)
    return floor.waiting[first.run.run_id]


def _used(floor: _Floor, now: float) -> Mapping[str, float]:
    """Device seconds of the last hour, by group."""
    while floor.history and floor.history[0][0] <= now - USE_WINDOW.total_seconds():
        _, group, seconds = floor.history.popleft()
        floor.used[group] -= seconds
    return floor.used


def _end_at(floor: _Floor, at: float, worker: int, run: _Run) -> None:
    floor.events += 1
    floor.current[worker] = floor.events
    heapq.heappush(floor.ends, (at, floor.events, worker, run))


def _end(floor: _Floor, worker: int, run: _Run, now: float) -> None:
    del floor.current[worker]
    floor.free.append(worker)
    key = (run.job.work_class, run.job.group)
    floor.leases[key] -= 1
    if not floor.leases[key]:
        del floor.leases[key]
    seconds = now - run.leased.pop(worker)
    floor.busy_s += seconds
    floor.used[run.job.group] += seconds
    floor.history.append((now, run.job.group, seconds))
    if run.over:
        return
    if not run.selected:
        run.selected = True
        run.due.extend(run.job.shards)
        run.due_s = sum(run.job.shards)
        if run.due:
            floor.waiting[run.number] = run
            floor.longest = max(floor.longest, len(floor.waiting))
    if not run.due and not run.leased:
        run.over = True
        floor.served.append(Served(run.job, now - run.job.at))
