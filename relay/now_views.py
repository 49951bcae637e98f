"""What is going on: the bodies of `GET /api/v1/now`. Times are ISO 8601 in UTC, durations are seconds."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from relay.views import RunSummary, View


class ExpectedBy(StrEnum):
    """What an expected duration is drawn from: runs that took so much longer than the tests in their plans, or the
    time of other runs of the same kind (a selection, everything, single tests), or of any kind."""

    PLAN = "plan"
    KIND = "kind"
    DEVICE = "device"


class Expectation(View):
    """How long a run takes from its start to its end, by so many past `runs`."""

    seconds: float
    runs: int
    by: ExpectedBy


class ShardsNow(View):
    """How far a run's shards are."""

    waiting: int = 0
    at_work: int = 0
    ended: int = 0


class RunNow(View):
    """A run that is not over. `elapsed_s` counts from its start, or while it waits from its arrival. `place` is its
    place in the queue, counted from 1, None when a worker has a part of it; `starts_in_s` a rough guess from what is
    expected of the runs before it."""

    run: RunSummary
    elapsed_s: float
    expected: Expectation | None
    shards: ShardsNow
    workers: tuple[str, ...]
    place: int | None = None
    starts_in_s: float | None = None


class WorkerState(StrEnum):
    """`silent`: it has a lease and lets its heartbeats out. `idle`: its last piece of work has ended."""

    WORKING = "working"
    SILENT = "silent"
    IDLE = "idle"


class WorkerNow(View):
    """A worker by the last lease it took, `seen_at` by its last heartbeat or, when idle, by the last event of that run.
    An idle worker may be gone: it says nothing until there is work."""

    name: str
    device: str
    state: WorkerState
    seen_at: datetime
    run_id: int
    kind: str
    attempt: int
    progress: str


class DeviceNow(View):
    """One device. `queued_total` counts all that wait, `queued` are the first of them."""

    device: str
    running: tuple[RunNow, ...]
    queued: tuple[RunNow, ...]
    queued_total: int
    workers: tuple[WorkerNow, ...]


class NowView(View):
    """`GET /api/v1/now`. `last_event` is the id to follow `GET /api/v1/events` from."""

    devices: tuple[DeviceNow, ...]
    last_event: int
