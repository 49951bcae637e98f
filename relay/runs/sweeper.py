"""The sweep: what makes good for every message that was lost, every worker that died and every restart of ours.

A thread of the background. Of several processes one sweeps at a time. Each step works in short transactions of its own
and is still safe twice at once; it decides nothing that `relay.runs` would not decide on a report. Leases and workers
must not wait for the answer of anybody outside: asking is for `relay.runs.errands`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol

import structlog
from sqlalchemy import select
from sqlalchemy.orm import Session

from relay.runs.audits import advance_audit, unsettled_audits
from relay.runs.leases import LeaseTerms, due_shards, expire_leases, runs_with_overdue_leases
from relay.runs.reconcile import reconcile
from relay.runs.states import FINAL_RUN_STATES, FINAL_SHARD_STATES, lock_run
from relay.store.engine import Store
from relay.store.models import Run, Shard
from relay.trail.tracing import span
from relay.wake import Waker

_log = structlog.get_logger(__name__)

#: With nobody answering, wake-ups become rare: an idle broker must not fill up.
_LONGEST_PAUSE_S = 60.0
#: More wake-ups than this at once say nothing new to a worker that leases until nothing is due.
MOST_WAKES = 16


@dataclass
class WakeSchedule:
    """When a device is woken again: soon while its number of due shards changes, ever more seldom while it does not."""

    first_pause_s: float
    _due: dict[str, int] = field(default_factory=dict)
    _pause_s: dict[str, float] = field(default_factory=dict)
    _next: dict[str, datetime] = field(default_factory=dict)

    def wakes(self, due: dict[str, int], now: datetime) -> dict[str, int]:
        """How many wake-ups each device gets at this moment."""
        devices = {device: count for device, count in due.items() if self._is_time(device, count, now)}
        for device, count in devices.items():
            changed = self._due.get(device) != count
            pause = self.first_pause_s if changed else min(2 * self._pause_s[device], _LONGEST_PAUSE_S)
            self._pause_s[device] = pause
            self._next[device] = now + timedelta(seconds=pause)
        self._due = dict(due)
        return {device: min(count, MOST_WAKES) for device, count in devices.items()}

    def _is_time(self, device: str, count: int, now: datetime) -> bool:
        return self._due.get(device) != count or now >= self._next[device]


class Turn(Protocol):
    """Which of several processes sweeps."""

    def hold(self) -> bool:
        """Whether it is this one, from now on for a while."""
        ...

    def done(self) -> None:
        """It has swept."""
        ...

    def release(self) -> None:
        """It will not sweep any more."""
        ...


class _Alone:
    """There is no other process."""

    def hold(self) -> bool:
        return True

    def done(self) -> None:
        """Nobody asks."""

    def release(self) -> None:
        """Nobody waits."""


_ALONE = _Alone()


@dataclass(eq=False)
class Recurring:
    """What is done at most every `every_s` seconds."""

    every_s: float = field(default=0.0, kw_only=True)
    _next: datetime | None = field(default=None, init=False)

    def is_due(self, now: datetime) -> bool:
        """Whether it is time, and if so when it is time again."""
        if self._next is not None and now < self._next:
            return False
        self._next = now + timedelta(seconds=self.every_s)
        return True


@dataclass(eq=False)
class Chore(Recurring):
    """Something else that the sweep sees to. `work` opens its own sessions, and waits for the record alone."""

    name: str
    work: Callable[[], object]


class Sweeper:
    """Sweeps every `interval_s` seconds between `start` and `stop`. `process_deliveries` handles what the inbox still
    holds and opens its own sessions."""

    def __init__(
        self,
        store: Store,
        waker: Waker,
        terms: LeaseTerms,
        *,
        interval_s: float,
        now: Callable[[], datetime],
        process_deliveries: Callable[[], object],
        chores: Sequence[Chore] = (),
        turn: Turn = _ALONE,
    ) -> None:
        self._store = store
        self._waker = waker
        self._terms = terms
        self._interval_s = interval_s
        self._now = now
        self._process_deliveries = process_deliveries
        self._chores = tuple(chores)
        self._turn = turn
        self._schedule = WakeSchedule(interval_s)
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin sweeping, the first time at once: a restart must not wait to pick up what is due."""
        self._stopping.clear()
        self._thread = threading.Thread(target=self._run, name="relay-sweeper", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread after the step it is in."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._guarded("release", self._turn.release)

    def sweep(self) -> None:
        """One pass over everything, unless it is another process's turn. A step that fails is logged and keeps no other
        step from being taken."""
        self._step("sweep", self._sweep)

    def _sweep(self) -> None:
        if not self._turn.hold():
            return
        self._step("deliveries", self._process_deliveries)
        for run_id in self._found(lambda session: runs_with_overdue_leases(session, self._now())):
            self._step("leases", partial(self._expire, run_id))
        for run_id in self._found(runs_without_open_shards):
            self._step("reconcile", partial(self._reconcile, run_id))
        for chore in self._chores:
            if chore.is_due(self._now()):
                self._step(chore.name, chore.work)
        for audit_id in self._found(unsettled_audits):
            self._step("audits", partial(self._advance_audit, audit_id))
        self._step("wakes", self._wake)
        self._step("done", self._turn.done)

    def _run(self) -> None:
        while not self._stopping.is_set():
            with span("sweep"):
                self.sweep()
            self._stopping.wait(self._interval_s)

    def _step(self, step: str, work: Callable[[], object]) -> None:
        if not self._stopping.is_set():
            self._guarded(step, work)

    def _guarded(self, step: str, work: Callable[[], object]) -> None:
        try:
            work()
        except Exception:  # noqa: BLE001  # the sweep is the last one to repair things: it must outlive any bug
            _log.error("sweep_step_failed", step=step, exc_info=True)

    def _found(self, query: Callable[[Session], tuple[int, ...]]) -> tuple[int, ...]:
        found: list[int] = []

        def look() -> None:
            with self._store.reading() as session:
                found.extend(query(session))

        self._step("look", look)
        return tuple(found)

    def _expire(self, run_id: int) -> None:
        with self._store.writing() as session:
            expire_leases(session, run_id, self._now(), self._terms)

    def _reconcile(self, run_id: int) -> None:
        with self._store.writing() as session:
            run = lock_run(session, run_id)
            if run is not None:
                reconcile(session, run, self._now())

    def _advance_audit(self, audit_id: int) -> None:
        with self._store.writing() as session:
            advance_audit(session, audit_id, self._now())

    def _wake(self) -> None:
        with self._store.reading() as session:
            due = due_shards(session)
        for device, count in self._schedule.wakes(due, self._now()).items():
            for _ in range(count):
                if not self._waker.wake(device):
                    break


def runs_without_open_shards(session: Session) -> tuple[int, ...]:
    """Unfinished runs that no worker can move on: only `reconcile` can."""
    open_shards = select(Shard.id).where(Shard.run_id == Run.id, Shard.state.not_in(FINAL_SHARD_STATES))
    query = select(Run.id).where(Run.state.not_in(FINAL_RUN_STATES), ~open_shards.exists())
    return tuple(session.scalars(query.order_by(Run.id)))
