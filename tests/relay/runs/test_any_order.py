"""Whatever workers send, in whatever order, twice or not at all: every planned test gets exactly one verdict."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from relay.contract import (
    Observation,
    ResultsPosted,
    SelectionPosted,
    ShardFinished,
    ShardKind,
    ShardOutcome,
    TestResult,
    Tree,
)
from relay.errors import RelayError
from relay.runs.creation import cancel_run
from relay.runs.leases import LeasedShard, expire_leases
from relay.runs.reporting import accept_results, accept_selection, finish_shard
from relay.runs.states import FINAL_RUN_STATES
from relay.store.engine import Store, open_engine
from relay.views import Conclusion, RunState, Verdict
from tests.relay.worker_story import (
    TERMS,
    arrive,
    get_run,
    later,
    lease,
    lease_id,
    names,
    report,
    result,
    results,
    verdicts,
)
from tests.setups import SqliteFiles

Sent = tuple[LeasedShard, SelectionPosted | ResultsPosted | ShardFinished]

_SHARDS = [names(5)[:3], names(5)[3:]]


def _told(result: TestResult, number: int) -> TestResult:
    """The result with attempts on base that are reused, and operators that change from report to report."""
    attempts = [tried.model_copy(update={"reused": tried.tree is Tree.BASE}) for tried in result.attempts]
    operators = ("aten::add.Tensor", f"aten::op{number % 3}", "no operator")
    return TestResult(id=result.id, attempts=tuple(attempts), operators=operators)


@cache
def _records() -> SqliteFiles:
    """What each example begins with is made once."""
    return SqliteFiles(Path(tempfile.mkdtemp()) / "ready.db")


class WorkersAndSweeps(RuleBasedStateMachine):
    """Workers lease, report, repeat themselves and die; sweeps come in between; the clock only moves forward."""

    def __init__(self) -> None:
        super().__init__()
        self._folder = tempfile.TemporaryDirectory()
        self.store = Store(open_engine(_records().make(Path(self._folder.name) / "relay.db")))
        self.seconds = 0.0
        self.leases: list[LeasedShard] = []
        self.sent: list[Sent] = []
        self.first: dict[str, Verdict] = {}
        self.final: tuple[RunState, Conclusion | None] | None = None

    @initialize()
    def a_change_arrives(self) -> None:
        self.run_id = arrive(self.store)

    @rule()
    def a_worker_leases(self) -> None:
        leased = lease(self.store, later(self.seconds))
        if leased is not None:
            self.leases.append(leased)

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), seen=st.sampled_from(Observation), base=st.sampled_from((None, *Observation)))
    def a_worker_reports(self, data: st.DataObject, seen: Observation, base: Observation | None) -> None:
        leased = data.draw(st.sampled_from(self.leases))
        if leased.shard.kind is ShardKind.SELECT:
            self._send((leased, SelectionPosted(lease_id=lease_id(leased), report=report(_SHARDS))))
        elif leased.tests:
            some = data.draw(st.lists(st.sampled_from(leased.tests), min_size=1, unique=True))
            sequence = 1 + sum(sent[0] is leased for sent in self.sent)
            done = [_told(result(test.test_id, seen, base=base), len(self.sent)) for test in some]
            self._send((leased, results(leased, done, sequence)))

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), outcome=st.sampled_from(ShardOutcome))
    def a_worker_says_goodbye(self, data: st.DataObject, outcome: ShardOutcome) -> None:
        leased = data.draw(st.sampled_from(self.leases))
        self._send((leased, ShardFinished(lease_id=lease_id(leased), outcome=outcome, error="why")))

    @precondition(lambda self: self.sent)
    @rule(data=st.data())
    def an_old_message_comes_again(self, data: st.DataObject) -> None:
        self._deliver(data.draw(st.sampled_from(self.sent)))

    @rule(seconds=st.floats(0, 40))
    def time_passes_and_the_sweep_comes(self, seconds: float) -> None:
        self.seconds += seconds
        with self.store.writing() as session:
            expire_leases(session, self.run_id, later(self.seconds), TERMS)

    @rule(cancelled=st.integers(0, 9))
    def seldom_somebody_cancels(self, cancelled: int) -> None:
        if cancelled == 9:
            with self.store.writing() as session:
                cancel_run(session, self.run_id, later(self.seconds), "enough")

    @invariant()
    def a_verdict_never_changes(self) -> None:
        now = {test: verdict for test, verdict in self._verdicts().items() if verdict is not None}
        assert self.first.items() <= now.items()
        self.first = now

    @invariant()
    def an_end_is_an_end(self) -> None:
        run = get_run(self.store, self.run_id) if hasattr(self, "run_id") else None
        if run is None or run.state not in FINAL_RUN_STATES:
            return
        assert None not in self._verdicts().values()
        assert self.final in (None, (run.state, run.conclusion))
        self.final = (run.state, run.conclusion)

    def teardown(self) -> None:
        """From here on only sweeps and workers that die at once: the run ends, and every test has its verdict."""
        for _ in range(12):
            self.a_worker_leases()
            self.time_passes_and_the_sweep_comes(31)
            self.an_end_is_an_end()
        assert get_run(self.store, self.run_id).state in FINAL_RUN_STATES
        assert None not in self._verdicts().values()
        self.store.engine.dispose()
        self._folder.cleanup()

    def _verdicts(self) -> dict[str, Verdict | None]:
        return verdicts(self.store, self.run_id) if hasattr(self, "run_id") else {}

    def _send(self, sent: Sent) -> None:
        self.sent.append(sent)
        self._deliver(sent)

    def _deliver(self, sent: Sent) -> None:
        leased, message = sent
        now = later(self.seconds)
        with suppress(RelayError), self.store.writing() as session:
            if isinstance(message, SelectionPosted):
                accept_selection(session, leased.shard.id, message, now)
            elif isinstance(message, ResultsPosted):
                accept_results(session, leased.shard.id, message, now)
            else:
                finish_shard(session, leased.shard.id, message, now, TERMS)


TestAnyOrder = WorkersAndSweeps.TestCase
TestAnyOrder.settings = settings(max_examples=25, stateful_step_count=25)
