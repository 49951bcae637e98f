"""What is going on: the bodies of `GET /api/v1/now`. Times are ISO 8601 in UTC, durations are seconds."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from pydantic import ConfigDict

from relay.contract import TestedOn
from relay.queue_views import Backlog, Waiting
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
    expected of the runs before it. `waiting` tells of its due shards, None when it has none."""

    run: RunSummary
    elapsed_s: float
    expected: Expectation | None
    shards: ShardsNow
    workers: tuple[str, ...]
    place: int | None = None
    starts_in_s: float | None = None
    waiting: Waiting | None = None


class WorkerState(StrEnum):
    """`idle`: it waits for work. `unable`: it is there and can do none, its own word says why. `silent`: it holds a
    lease, or waits, and lets its heartbeats out. `left`: it said goodbye."""

    WORKING = "working"
    IDLE = "idle"
    UNABLE = "unable"
    SILENT = "silent"
    LEFT = "left"


class WorkerAbout(View):
    """What a worker says of itself: the version of its program, how many shards it does at a time, how test processes
    are confined, the manifests' profile it plans by, the environments it can test in, since when its process runs, and
    why it can do no work, where that is so."""

    version: str
    concurrency: int = 1
    sandbox: str = ""
    manifest_profile: str = ""
    environments: tuple[TestedOn, ...] = ()
    started_at: datetime
    trouble: str = ""


class WorkerNow(View):
    """A worker. `leased`: it holds a lease, or several (`leases`), and `run_id` is the newest run it works on; else the
    one it worked on last, None when there was none. `seen_at` is its last heartbeat. Where `about` is None it is of a
    version that says nothing while it waits: then `seen_at` is the last event of that run, and it may be gone."""

    name: str
    device: str
    state: WorkerState
    seen_at: datetime
    leased: bool = False
    leases: int = 0
    run_id: int | None = None
    kind: str = ""
    attempt: int = 0
    progress: str = ""
    about: WorkerAbout | None = None


class TraitValue(View):
    """A value of a trait, and the workers that have it."""

    value: str
    workers: tuple[str, ...]


class WorkerDifference(View):
    """Workers of one device that are there and are not alike. The values most workers have come first."""

    device: str
    trait: str
    values: tuple[TraitValue, ...]


class DeviceNow(View):
    """One device. `queued_total` counts all that wait, `queued` are the first of them, in the order in which they are
    served; `differences` are those of its workers that are at work or wait."""

    device: str
    running: tuple[RunNow, ...]
    queued: tuple[RunNow, ...]
    queued_total: int
    workers: tuple[WorkerNow, ...]
    differences: tuple[WorkerDifference, ...] = ()
    backlog: Backlog = Backlog()


class NowView(View):
    """`GET /api/v1/now`. `last_event` is the id to follow `GET /api/v1/events` from."""

    devices: tuple[DeviceNow, ...]
    last_event: int


_WORKER_EXAMPLE: dict[str, Any] = {
    "name": "gpu-3-4711",
    "device": "spyre",
    "state": "idle",
    "seen_at": "2026-11-02T09:30:00Z",
    "leased": False,
    "leases": 0,
    "run_id": 7,
    "kind": "test",
    "attempt": 1,
    "progress": "",
    "about": {
        "version": "0.1.0",
        "concurrency": 1,
        "sandbox": "bubblewrap",
        "manifest_profile": "compat",
        "environments": [
            {
                "name": "default",
                "torch_version": "2.13.0+cpu",
                "torch_git_sha": "7abe7e9c7c1d3c3c8a1b0f2d4e5f60718293a4b5",
                "python_version": "3.11.7",
                "device_profile": "compat",
                "sandbox": "bubblewrap",
            }
        ],
        "started_at": "2026-11-02T08:00:00Z",
        "trouble": "",
    },
}


class WorkersView(View):
    """`GET /api/v1/workers`: at work first, then waiting, unable, silent, gone. `differences` are those of the workers
    that are at work or wait."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "workers": [_WORKER_EXAMPLE],
                    "differences": [
                        {
                            "device": "spyre",
                            "trait": "torch",
                            "values": [
                                {"value": "2.13.0+cpu", "workers": ["gpu-3-4711"]},
                                {"value": "2.12.1+cpu", "workers": ["gpu-4-815"]},
                            ],
                        }
                    ],
                }
            ]
        }
    )

    workers: tuple[WorkerNow, ...]
    differences: tuple[WorkerDifference, ...]
