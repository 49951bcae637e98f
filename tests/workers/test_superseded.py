"""A push takes back what runs for its pull request: through a real relay, with real messages, to the worker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest
from fastapi import FastAPI
from sqlalchemy import select

from relay.context import RelayContext
from relay.contract import LeaseRequest, ShardKind
from relay.runs.creation import NewRun, cancel_run, open_run
from relay.store.models import Run, Shard, ShardState, Trigger
from relay.views import RunState
from tests.conftest import WORKER_TOKEN
from tests.relay.serving import serving
from tests.relay.worker_story import arrive, must_lease, post_selection, report
from tests.workers.benches import a_bench
from tests.workers.scripted_runner import F, ScriptedRunner
from tests.workers.small_upstream import Upstream
from workers.relay_client import RelayClient
from workers.session import Session
from workers.workspace import Workspace

FILE = "test/test_a.py"
TESTS = [f"{FILE}::TestASPYRE::test_{number}" for number in range(1_000)]
#: Of this many tests the push comes after the tenth.
_PUSHED_AT = 10
_TEST_S = 0.02


@pytest.fixture
def change(upstream: Upstream) -> NewRun:
    base = upstream.commit({FILE: "old\n"})
    head = upstream.commit({FILE: "new\n"})
    upstream.git("update-ref", "refs/pull/7/head", head)
    return NewRun(
        identity="first",
        repo="pytorch/pytorch",
        kind="pull_request",
        base_sha=base,
        head_sha=head,
        device="spyre",
        trigger=Trigger.WEBHOOK,
        pr_number=7,
        fetch_ref="refs/pull/7/head",
    )


@pytest.fixture
def url(app: FastAPI, context: RelayContext, upstream: Upstream) -> Iterator[str]:
    """A relay whose leases are so long that no heartbeat comes in this test."""
    settings = context.settings.model_copy(update={"lease_seconds": 3_000.0, "upstream_clone_url": str(upstream.path)})
    object.__setattr__(context, "settings", settings)
    with serving(app) as address:
        yield address


@pytest.mark.parametrize("outcome", ["passes, and its results are answered", "fails, and its log is answered"])
def test_a_push_stops_the_worker_between_two_tests_and_long_before_its_next_heartbeat(
    url: str, context: RelayContext, change: NewRun, tmp_path: Path, outcome: str
) -> None:
    """What fails has no result before its file is done, so that only the log's answer can tell. Nothing of the old run
    is given back or due, the worker goes on with the new one by itself."""
    store = context.store
    old = arrive(store, change)
    post_selection(store, must_lease(store, context.now()), report([TESTS]), context.now())
    started: list[str] = []
    newer: list[int] = []

    def begins(side: str, test: str) -> None:
        del side
        started.append(test)
        if len(started) == _PUSHED_AT:
            with store.writing() as session:
                pushed = replace(change, identity="second")
                newer.append(open_run(session, pushed, context.now()).id)
        Event().wait(_TEST_S)

    script = {("head", test): [F] for test in TESTS} if outcome.startswith("fails") else {}
    with RelayClient(url, WORKER_TOKEN) as client:
        session = Session(
            client=client,
            workspace=Workspace(tmp_path / "work"),
            identity=LeaseRequest(worker="w1", device="spyre"),
            bench=a_bench(ScriptedRunner(script, before_test=begins)),
            make_llm=lambda settings: pytest.fail(f"no model is there, but {settings.model}"),
            shutting_down=lambda: False,
        )
        assert session.run() >= 2, "the new run was not taken up"
    after = len(started) - _PUSHED_AT
    print(f"{outcome}: {after} tests of {_TEST_S * 1_000:.0f} ms began after the push")  # shown with `pytest -rP`
    assert after < len(TESTS) - _PUSHED_AT, "it went on to the end"
    with store.reading() as reading:
        assert reading.get_one(Run, old).state is RunState.CANCELLED
        shards = reading.scalars(select(Shard).where(Shard.run_id == old, Shard.kind == ShardKind.TEST)).all()
        assert [(shard.state, shard.attempt) for shard in shards] == [(ShardState.LOST, 1)]
        assert reading.get_one(Run, newer[0]).started_at is not None


def test_a_push_to_the_branch_takes_nothing_back(context: RelayContext, change: NewRun) -> None:
    store = context.store
    with store.writing() as session:
        for number in (1, 2):
            push = replace(change, identity=f"push-{number}", pr_number=None, base_ref="refs/heads/main")
            open_run(session, push, context.now())
    with store.reading() as reading:
        assert {run.state for run in reading.scalars(select(Run))} == {RunState.RECEIVED}
    with store.writing() as session:
        assert cancel_run(session, 1, context.now(), "by hand").state is RunState.CANCELLED
