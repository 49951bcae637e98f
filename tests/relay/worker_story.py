"""Words for tests of `relay.runs`: a change arrives, a worker selects, runs and reports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import count

from sqlalchemy import select

from relay.contract import (
    Attempt,
    ChangedFile,
    Decision,
    Expected,
    FilteredTest,
    FunnelStep,
    NotTested,
    Observation,
    PlannedTestMessage,
    ReasonMessage,
    ResultsPosted,
    SelectionPosted,
    SelectionReport,
    ShardFinished,
    ShardOutcome,
    TestedOn,
    TestResult,
    Tree,
)
from relay.runs.creation import NewRun, open_run
from relay.runs.leases import LeasedShard, LeaseTerms, lease_next
from relay.runs.reporting import accept_results, accept_selection, finish_shard
from relay.store.engine import Store
from relay.store.models import PlannedTest, Run, Trigger
from relay.views import Verdict

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TERMS = LeaseTerms(lease_seconds=30, max_attempts=3)
DEVICE = "spyre"
BASE_SHA, HEAD_SHA = "b" * 40, "a" * 40

_numbers = count(1)


def later(seconds: float) -> datetime:
    """A moment after the story began."""
    return NOW + timedelta(seconds=seconds)


def new_run(
    identity: str | None = None,
    *,
    trigger: Trigger = Trigger.WEBHOOK,
    pr_number: int | None = 7,
    device: str = DEVICE,
    title: str = "Change where()",
) -> NewRun:
    """A change that arrived, with an identity of its own unless one is given."""
    return NewRun(
        identity=identity or f"delivery:{next(_numbers)}",
        repo="pytorch/pytorch",
        kind="pull_request",
        base_sha=BASE_SHA,
        head_sha=HEAD_SHA,
        device=device,
        trigger=trigger,
        pr_number=pr_number,
        title=title,
        base_ref="main",
        fetch_ref="refs/pull/7/head",
    )


def names(total: int) -> list[str]:
    """Ids of generated tests."""
    return [f"test/test_ops.py::TestOpsSPYRE::test_add_{number}_spyre" for number in range(total)]


def planned(name: str, expected: Expected = Expected.MANDATORY_SUCCESS) -> PlannedTestMessage:
    """A planned test as a worker reports it."""
    return PlannedTestMessage(
        id=name,
        file="test/test_ops.py",
        base="test/test_ops.py::TestOps::test_add",
        expected=expected,
        rule="listed",
        provenance="ops.yaml:3",
        tags=("smoke",),
    )


def report(
    shards: Sequence[Sequence[str]],
    *,
    expected: Expected = Expected.MANDATORY_SUCCESS,
    not_tested: NotTested | None = None,
    tested_on: TestedOn | None = None,
) -> SelectionReport:
    """A selection whose plan is these shards."""
    reason = ReasonMessage(stage=2, rule="edited-test", evidence="test/test_ops.py was edited")
    return SelectionReport(
        state="selected",
        funnel=(FunnelStep(stage=1, name="change", entered=1, left=1, unit="files", summary="one file changed"),),
        changed_files=(ChangedFile(path="torch/_refs.py", status="modified", category="python source"),),
        decisions=(
            Decision(test="test/test_ops.py::TestOps::test_add", kept=True, reasons=(reason,)),
            Decision(test="test/test_ops.py::TestOps::test_sub", kept=False, reasons=(reason,)),
        ),
        planned=tuple(planned(name, expected) for shard in shards for name in shard),
        filtered=(FilteredTest(id="x", base="y", rule="unlisted", provenance="ops.yaml:1"),),
        shards=tuple(tuple(shard) for shard in shards),
        notes=("offline ranker",),
        not_tested=not_tested,
        tested_base_sha=BASE_SHA,
        tested_on=tested_on,
    )


def attempt(
    observation: Observation, *, tree: Tree = Tree.HEAD, number: int = 1, detail: str = "", duration_s: float = 0.5
) -> Attempt:
    """One try."""
    return Attempt(tree=tree, number=number, observation=observation, duration_s=duration_s, detail=detail)


def result(name: str, *observations: Observation, base: Observation | None = None) -> TestResult:
    """The attempts at a test on head, and one on base if given."""
    tries = [attempt(seen, number=number) for number, seen in enumerate(observations, start=1)]
    if base is not None:
        tries.append(attempt(base, tree=Tree.BASE))
    return TestResult(id=name, attempts=tuple(tries))


def results(leased: LeasedShard, done: Iterable[TestResult], sequence: int = 1) -> ResultsPosted:
    """A batch under the lease."""
    return ResultsPosted(lease_id=lease_id(leased), sequence=sequence, results=tuple(done))


def passes(leased: LeasedShard, sequence: int = 1) -> ResultsPosted:
    """A batch in which every test of the lease passes."""
    return results(leased, (result(test.test_id, Observation.PASSED) for test in leased.tests), sequence)


def lease_id(leased: LeasedShard) -> str:
    """The id the worker holds."""
    assert leased.shard.lease_id
    return leased.shard.lease_id


def arrive(store: Store, new: NewRun | None = None, now: datetime = NOW) -> int:
    """A change arrives; the id of its run."""
    with store.writing() as session:
        return open_run(session, new or new_run(), now).id


def lease(store: Store, now: datetime = NOW, worker: str = "w1") -> LeasedShard | None:
    """A worker asks for work."""
    with store.writing() as session:
        return lease_next(session, DEVICE, worker, now, TERMS)


def must_lease(store: Store, now: datetime = NOW, worker: str = "w1") -> LeasedShard:
    """A worker asks for work and gets it."""
    leased = lease(store, now, worker)
    assert leased is not None
    return leased


def post_selection(store: Store, leased: LeasedShard, found: SelectionReport, now: datetime = NOW) -> None:
    """The worker reports its selection."""
    posted = SelectionPosted(lease_id=lease_id(leased), report=found)
    with store.writing() as session:
        accept_selection(session, leased.shard.id, posted, now)


def post_results(store: Store, leased: LeasedShard, posted: ResultsPosted, now: datetime = NOW) -> None:
    """The worker reports results."""
    with store.writing() as session:
        accept_results(session, leased.shard.id, posted, now)


def end(
    store: Store,
    leased: LeasedShard,
    outcome: ShardOutcome = ShardOutcome.DONE,
    *,
    error: str = "",
    now: datetime = NOW,
) -> None:
    """The worker says goodbye to its shard."""
    finished = ShardFinished(lease_id=lease_id(leased), outcome=outcome, error=error)
    with store.writing() as session:
        finish_shard(session, leased.shard.id, finished, now, TERMS)


def arrive_and_plan(store: Store, shards: Sequence[Sequence[str]], new: NewRun | None = None) -> int:
    """A change arrives and is planned; the id of its run."""
    run_id = arrive(store, new)
    post_selection(store, must_lease(store), report(shards))
    return run_id


def get_run(store: Store, run_id: int) -> Run:
    """The run as it is now."""
    with store.reading() as session:
        return session.get_one(Run, run_id)


def verdicts(store: Store, run_id: int) -> dict[str, Verdict | None]:
    """The verdict of every planned test of a run."""
    with store.reading() as session:
        rows = session.scalars(select(PlannedTest).where(PlannedTest.run_id == run_id))
        return {test.test_id: test.verdict for test in rows}
