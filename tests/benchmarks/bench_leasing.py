"""What the order of the queue costs: `python -m tests.benchmarks.bench_leasing`.

A lease by the policy against one of the oldest run, as it was before there was a policy, in turns on the same record:
5,000 due shards of 500 runs, 40 at work, 300 runs that ended within the hour. On SQLite and on PostgreSQL; every
lease is rolled back, so that all are of the same queue. Then the policy alone, without a record.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from relay.contract import Expected, ShardKind
from relay.queue_views import WorkClass
from relay.runs.leases import LeaseTerms, lease_next
from relay.runs.queueing import load_queue
from relay.runs.scheduling import Policy, order
from relay.runs.states import lock_run, transition
from relay.store.engine import Store, open_engine, upgrade_database
from relay.store.models import PlannedTest, Run, Shard, ShardState, Trigger
from relay.store.presence_models import Worker
from relay.views import RunState
from tests.setups import postgres_server

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TERMS = LeaseTerms(30, 3)
DEVICE = "spyre"
RUNS, SHARDS, TESTS = 500, 10, 20
_LEASED, _ENDED, _TURNS = 40, 300, 30


def main() -> None:
    """Both databases, one after the other."""
    print(f"{RUNS * SHARDS:,} due shards of {RUNS} runs, {_TURNS} leases of each kind; milliseconds, median (slowest)")
    with tempfile.TemporaryDirectory() as folder:
        measure("SQLite", f"sqlite:///{Path(folder) / 'relay.db'}")
    with postgres_server() as url:
        measure("PostgreSQL", url)


def measure(name: str, url: str) -> None:
    """One line for a database."""
    engine = open_engine(url)
    upgrade_database(engine)
    store = Store(engine)
    seed(store)
    took: dict[str, list[float]] = {"policy": [], "oldest": []}
    for _ in range(_TURNS):
        for kind, lease in (("policy", by_policy), ("oldest", oldest_first)):
            with store.writing() as session:
                took[kind].append(_seconds(partial(lease, session)))
                session.rollback()
    with store.reading() as session:
        queue = load_queue(session, DEVICE, NOW)
    policy = Policy()
    alone = [_seconds(lambda: order(queue, policy)) for _ in range(_TURNS)]
    ratio = statistics.median(took["policy"]) / statistics.median(took["oldest"])
    told = ", ".join(f"{kind} {_told(times)}" for kind, times in {**took, "order alone": alone}.items())
    print(f"{name}: {told}; ratio {ratio:.1f}")
    engine.dispose()


def by_policy(session: Session) -> None:
    """A lease as it is."""
    assert lease_next(session, DEVICE, "w", NOW, TERMS) is not None


def oldest_first(session: Session) -> None:
    """A lease as it was."""
    due = select(Shard.run_id).join(Run, Run.id == Shard.run_id)
    due = due.where(Shard.state == ShardState.DUE, Run.device == DEVICE).distinct().order_by(Shard.run_id).limit(20)
    for run_id in session.scalars(due).all():
        lock_run(session, run_id)
        shard = session.scalar(
            select(Shard)
            .where(Shard.run_id == run_id, Shard.state == ShardState.DUE)
            .order_by(Shard.ordinal)
            .limit(1)
            .execution_options(populate_existing=True)
        )
        if shard is not None:
            transition(session, shard, ShardState.LEASED, NOW, "leased", attempt=1, lease_id="x", lease_worker="w")
            waiting = (PlannedTest.shard_id == shard.id, PlannedTest.verdict.is_(None))
            assert session.scalars(select(PlannedTest).where(*waiting).order_by(PlannedTest.id)).all()
            return


def seed(store: Store) -> None:
    """The record that is leased from."""
    with store.writing() as session:
        session.execute(insert(Run), [_run(number) for number in range(1, RUNS + 1)])
        session.execute(insert(Run), [_run(number, ended=True) for number in range(RUNS + 1, RUNS + _ENDED + 1)])
        shards = [_shard(number) for number in range(1, RUNS * SHARDS + _LEASED + 1)]
        session.execute(insert(Shard), shards)
        session.execute(insert(PlannedTest), [_test(shard, number) for shard in shards for number in range(TESTS)])
        session.execute(insert(Worker), [_worker(number) for number in range(_LEASED)])


def _run(number: int, *, ended: bool = False) -> dict[str, object]:
    return {
        "id": number,
        "identity": f"delivery:{number}",
        "repo": "pytorch/pytorch",
        "kind": "pull_request",
        "pr_number": number,
        "base_sha": "b" * 40,
        "head_sha": f"{number:040x}",
        "device": DEVICE,
        "trigger": Trigger.WEBHOOK,
        "state": RunState.FINISHED if ended else RunState.RUNNING,
        "work_class": WorkClass.MERGED if number % 10 == 0 else WorkClass.PULL_REQUEST,
        "group_key": f"pr:{number % 250}",
        "created_at": NOW - timedelta(seconds=number),
        "served_s": 30.0,
        "served_at": NOW - timedelta(seconds=number) if number % 2 else None,
    }


def _shard(number: int) -> dict[str, object]:
    return {
        "id": number,
        "run_id": 1 + (number - 1) % RUNS,
        "ordinal": number,
        "kind": ShardKind.TEST,
        "state": ShardState.LEASED if number > RUNS * SHARDS else ShardState.DUE,
        "expected_s": 60.0,
        "lease_expires_at": NOW + timedelta(seconds=30),
    }


def _test(shard: dict[str, object], number: int) -> dict[str, object]:
    return {
        "run_id": shard["run_id"],
        "shard_id": shard["id"],
        "test_id": f"t.py::{shard['id']}-{number}",
        "file": "t.py",
        "base": "t.py::T::t",
        "expected": Expected.MANDATORY_SUCCESS,
        "rule": "listed",
        "provenance": "m.yaml:1",
    }


def _worker(number: int) -> dict[str, object]:
    return {
        "name": f"w{number}",
        "device": DEVICE,
        "process": "p",
        "version": "1",
        "concurrency": 1,
        "sandbox": "",
        "manifest_profile": "compat",
        "environments": [],
        "started_at": NOW,
        "seen_at": NOW,
    }


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _told(times: list[float]) -> str:
    return f"{1_000 * statistics.median(times):.1f} ({1_000 * max(times):.1f})"


if __name__ == "__main__":
    main()
