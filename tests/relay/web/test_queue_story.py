"""Several workers, several changes, one queue: what is served when, and what people are told meanwhile. Over HTTP."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import pytest
from fastapi.testclient import TestClient

from relay.context import RelayContext
from relay.contract import (
    Lease,
    LeaseRequest,
    Message,
    Observation,
    ResultsPosted,
    SelectionPosted,
    ShardFinished,
    ShardKind,
    ShardOutcome,
    WorkerPresent,
)
from relay.now_views import DeviceNow, NowView
from relay.queue_views import Wait, WorkClass
from relay.runs.creation import NewRun
from relay.store.models import Trigger
from relay.views import Readiness, RunDetail
from tests.relay.worker_story import arrive, get_run, new_run, report, result

pytestmark = pytest.mark.both_setups


@dataclass
class Worker:
    """A worker that speaks HTTP and does one shard at a time."""

    client: TestClient
    headers: dict[str, str]
    name: str
    lease: Lease | None = field(default=None)

    def post(self, path: str, message: Message) -> str:
        content = message.model_dump_json()
        headers = {**self.headers, "Content-Type": "application/json"}
        answer = self.client.post(f"/api/v1/worker{path}", content=content, headers=headers)
        assert answer.is_success, answer.text
        return answer.text

    def arrives(self) -> None:
        said = WorkerPresent(
            worker=self.name, device="spyre", process="p", version="1", concurrency=1, sandbox="bubblewrap"
        )
        self.post("/presence", said)

    def takes(self) -> Lease:
        told = self.post("/lease", LeaseRequest(worker=self.name, device="spyre"))
        self.lease = Lease.model_validate_json(told)
        return self.lease

    def selects(self, shards: int, seconds: float) -> None:
        lease = self.lease or self.takes()
        assert lease.kind is ShardKind.SELECT
        planned = report([[f"test_ops.py::T::test_{lease.run_id}_{number}"] for number in range(shards)])
        found = planned.model_copy(update={"shard_seconds": (seconds,) * shards})
        self.post(f"/shards/{lease.shard_id}/selection", SelectionPosted(lease_id=lease.lease_id, report=found))
        self.lease = None

    def does(self) -> None:
        lease = self.lease
        assert lease is not None
        done = tuple(result(test.id, Observation.PASSED) for test in lease.tests)
        self.post(f"/shards/{lease.shard_id}/results", ResultsPosted(lease_id=lease.lease_id, sequence=1, results=done))
        self.post(f"/shards/{lease.shard_id}/finish", ShardFinished(lease_id=lease.lease_id, outcome=ShardOutcome.DONE))
        self.lease = None


@pytest.fixture
def workers(client: TestClient, worker_auth: dict[str, str]) -> list[Worker]:
    found = [Worker(client, worker_auth, f"w{number}") for number in range(4)]
    for worker in found:
        worker.arrives()
    return found


def audit() -> NewRun:
    return replace(new_run(pr_number=None), trigger=Trigger.AUDIT, kind="audit", full="everything")


def test_four_workers_share_a_queue_that_becomes_deep(
    client: TestClient, context: RelayContext, workers: list[Worker]
) -> None:
    first, second, third, fourth = workers
    store, now = context.store, context.now()
    daily = arrive(store, replace(audit(), work_class=WorkClass.NIGHTLY), now)
    large = arrive(store, new_run(pr_number=1), now)

    # The pull request goes before the audit although it came later, and waits for nobody.
    assert first.takes().run_id == large
    first.selects(shards=8, seconds=400.0)
    small = arrive(store, new_run(pr_number=2), context.now())
    merged = arrive(store, replace(new_run(pr_number=None), base_ref="refs/heads/main"), context.now())

    # The merged change is the next; of the pull requests each gets one worker before one gets two.
    assert first.takes().run_id == merged
    first.selects(shards=4, seconds=400.0)
    assert [worker.takes().run_id for worker in workers] == [merged, merged, large, small]
    board = now_of(client)
    assert board.backlog.workers == 4
    assert reason(board, large) is Wait.NEXT, "the merged change has its half of the workers"
    assert reason(board, merged) is Wait.GROUP_LIMIT
    assert reason(board, daily) is Wait.CLASS

    # Eleven shards of 400 s wait for four workers, which is deep for this relay: a new pull request may plan less, says
    # so, and the audit is held.
    deep_beyond(context, 900.0)
    fourth.selects(shards=1, seconds=400.0)
    cut = arrive(store, new_run(pr_number=3), context.now())
    board = now_of(client)
    assert (board.backlog.deep, reason(board, daily)) == (True, Wait.HELD)
    ready = Readiness.model_validate(client.get("/readyz").json())
    assert ready.deep == ("spyre",)
    assert ready.backlog_s["spyre"] > 900
    assert 'relay_queue_deep{device="spyre"} 1.0' in client.get("/metrics").text
    order = take_until(fourth, cut).select
    assert order is not None
    assert order.budget_s == context.settings.deep_budget_s
    assert "The queue is deep" in order.budget_note
    fourth.selects(shards=1, seconds=1.0)

    # Everything is done in the end, the audit last; nobody was idle while something was due.
    for worker in (first, second, third):
        worker.does()
    assert finish_all(workers)[-1] == daily
    assert {get_run(store, run).state.value for run in (daily, large, small, merged, cut)} == {"finished"}
    assert now_of(client).backlog.deep is False
    detail = RunDetail.model_validate(client.get(f"/api/v1/runs/{large}").json())
    assert detail.balance is not None
    assert (detail.balance.shards, detail.balance.expected) == (8, 1.0)


def test_what_a_person_asks_for_again_is_neither_held_nor_cut(
    client: TestClient, context: RelayContext, workers: list[Worker], operator_auth: dict[str, str]
) -> None:
    deep_beyond(context, 1.0)
    first, second = workers[:2]
    run = arrive(context.store, new_run(pr_number=1), context.now())
    first.selects(shards=1, seconds=1.0)
    first.takes()
    first.does()
    arrive(context.store, new_run(pr_number=2), context.now())
    second.selects(shards=9, seconds=600.0)
    again = client.post(f"/api/v1/runs/{run}/rerun", json={"failed": False}, headers=operator_auth).json()["id"]
    assert now_of(client).backlog.deep
    lease = first.takes()
    assert lease.run_id == again, "it counts one class higher"
    assert lease.select is not None
    assert (lease.select.budget_s, lease.select.budget_note) == (None, "")


def test_a_budget_that_is_smaller_anyway_stays_as_it_is(context: RelayContext, workers: list[Worker]) -> None:
    deep_beyond(context, 1.0)
    object.__setattr__(context, "settings", context.settings.model_copy(update={"selection_budget_s": 60.0}))
    arrive(context.store, new_run(pr_number=1), context.now())
    workers[0].selects(shards=9, seconds=600.0)
    cut = arrive(context.store, new_run(pr_number=2), context.now())
    order = take_until(workers[1], cut).select
    assert order is not None
    assert (order.budget_s, order.budget_note) == (60.0, "")


def deep_beyond(context: RelayContext, seconds: float) -> None:
    """Another setting, for all parts of the running relay."""
    object.__setattr__(context, "settings", context.settings.model_copy(update={"queue_deep_s": seconds}))


def take_until(worker: Worker, run_id: int) -> Lease:
    """What comes before is done at once."""
    while (lease := worker.takes()).run_id != run_id:
        worker.does()
    return lease


def finish_all(workers: list[Worker]) -> list[int]:
    """The runs of what is left, in the order in which it is served."""
    served: list[int] = []
    left = Counter[str]()
    for worker in (workers * 100)[:200]:
        if left[worker.name]:
            continue
        told = worker.post("/lease", LeaseRequest(worker=worker.name, device="spyre"))
        if not told:
            left[worker.name] += 1
            continue
        worker.lease = Lease.model_validate_json(told)
        served.append(worker.lease.run_id)
        if worker.lease.kind is ShardKind.SELECT:
            worker.selects(shards=1, seconds=1.0)
            left.clear()
        else:
            worker.does()
    return served


def now_of(client: TestClient) -> DeviceNow:
    (device,) = NowView.model_validate(client.get("/api/v1/now").json()).devices
    return device


def reason(board: DeviceNow, run_id: int) -> Wait | None:
    for state in (*board.running, *board.queued):
        if state.run.id == run_id:
            return state.waiting.wait if state.waiting else None
    raise AssertionError(f"run {run_id} is not told of")
