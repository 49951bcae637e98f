"""Running the tests of a shard: which attempts a test gets, on which tree, and when its result is final.

A test that does not end as expected on head is tried once more alone there; if it still does not pass and had to, it is
compared with base: with what is known of that base, or by running it there. A failure on base excuses the change, so it
is confirmed by a second try as well. All attempts of a test leave together, as one result. What an outcome *means* is
the relay's business.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from relay.contract import (
    MESSAGE_CAP,
    OPERATOR_CAP,
    OPERATORS_CAP,
    Attempt,
    Expected,
    Observation,
    TestOrder,
    TestResult,
    Tree,
)
from relay.trail.tracing import span
from workers.device_runner import DeviceRunner
from workers.runner.types import RunnerTree, TestOutcome, WantedTest
from workers.shards.base_results import BaseResults, NothingKnown
from workers.shards.report import capped
from workers.shards.shard_log import NoLog, OutcomeLog
from workers.untrusted import storable

FINE = frozenset({Observation.PASSED, Observation.SKIPPED})

#: A process of its own for a test that is tried again costs a fork and the import of its file, which for the largest
#: files is many seconds. More failures than these have a common cause most of the time: the others share a process.
ALONE_LIMIT = 20
ALONE_SECONDS = 60.0

_CONFIRMED = frozenset({Observation.FAILED, Observation.CRASHED, Observation.TIMED_OUT})


@dataclass(frozen=True, slots=True)
class ShardRun:
    """The running of one test shard. `base` is called only when a failure has to be compared."""

    runner: DeviceRunner
    head: RunnerTree
    base: Callable[[], RunnerTree]
    publish: Callable[[TestResult], None]
    should_stop: Callable[[], bool]
    say: Callable[[str], None]
    base_results: BaseResults = field(default_factory=NothingKnown)
    clock: Callable[[], float] = time.monotonic
    log: OutcomeLog = field(default_factory=NoLog)

    def run(self, tests: Sequence[TestOrder]) -> bool:
        """Run file by file. False when a stop was asked for, at a test boundary, before every test had its result."""
        by_file: dict[str, list[TestOrder]] = {}
        for test in tests:
            by_file.setdefault(test.file, []).append(test)
        for number, (file, orders) in enumerate(by_file.items(), start=1):
            if self.should_stop():
                return False
            self.say(f"running {file} ({number} of {len(by_file)})")
            with span("test file", file=file, tests=len(orders)):
                complete = _FileRun(self, file, {order.id: order for order in orders}).run()
            if not complete:
                return False
        return True


@dataclass(slots=True)
class _FileRun:
    """The attempts at the tests of one file."""

    shard: ShardRun
    file: str
    orders: dict[str, TestOrder]
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)
    operators: dict[str, tuple[str, ...]] = field(default_factory=dict)
    known: Mapping[str, tuple[Attempt, ...]] = field(default_factory=dict)

    def run(self) -> bool:
        must_pass = [test for test, order in self.orders.items() if order.expected is Expected.MANDATORY_SUCCESS]
        self.known = self.shard.base_results.known(must_pass)
        if not self._attempt(self.orders, Tree.HEAD):
            return False
        failed = self._unsettled()
        if not self._attempt_again(failed, Tree.HEAD):
            return False
        compared = [test for test in self._unsettled() if self.orders[test].expected is Expected.MANDATORY_SUCCESS]
        if not self._compare(compared):
            return False
        for test in failed:
            self._publish(test)
        return True

    def _compare(self, tests: Sequence[str]) -> bool:
        """Get what these tests do on base: what is known, and by running them what is not."""
        for test in tests:
            self.attempts[test].extend(self.known.get(test, ()))
        unknown = [test for test in tests if test not in self.known]
        if not unknown:
            return True
        self.shard.say(f"comparing {self.file} with base")
        if not self._attempt(unknown, Tree.BASE):
            return False
        failing = [test for test in unknown if self.attempts[test][-1].observation in _CONFIRMED]
        if not self._attempt_again(failing, Tree.BASE):
            return False
        self.shard.base_results.remember(
            {test: [tried for tried in self.attempts[test] if tried.tree is Tree.BASE] for test in unknown}
        )
        return True

    def _unsettled(self) -> list[str]:
        return [test for test in self.attempts if not self._is_settled(test)]

    def _is_settled(self, test: str) -> bool:
        """Whether the last attempt on head is what was expected, so that another one would tell nothing."""
        last = [tried.observation for tried in self.attempts[test] if tried.tree is Tree.HEAD][-1]
        expected_failure = self.orders[test].expected is not Expected.MANDATORY_SUCCESS and last is Observation.FAILED
        return last in FINE or expected_failure

    def _attempt_again(self, tests: Sequence[str], tree: Tree) -> bool:
        return all(self._attempt(group, tree) for group in self._groups(tests))

    def _groups(self, failed: Sequence[str]) -> Iterator[Sequence[str]]:
        """Alone as far as that goes, then the rest together. A test that was missing does not become visible by being
        alone."""
        alone = [test for test in failed if self.attempts[test][-1].observation is not Observation.MISSING]
        started, tried = self.shard.clock(), 0
        while tried < min(ALONE_LIMIT, len(alone)) and self.shard.clock() - started < ALONE_SECONDS:
            yield [alone[tried]]
            tried += 1
        done = set(alone[:tried])
        rest = [test for test in failed if test not in done]
        if rest:
            yield rest

    def _attempt(self, tests: Iterable[str], tree: Tree) -> bool:
        """Run tests once on a tree and record it; False when a stop kept some of them from running."""
        waiting = dict.fromkeys(tests)

        def record(outcome: TestOutcome) -> None:
            if outcome.id in waiting:
                del waiting[outcome.id]
                self._record(tree, outcome)

        side = self.shard.head if tree is Tree.HEAD else self.shard.base()
        wanted = [
            WantedTest(order.id, order.isolate, order.timeout_s) for order in map(self.orders.__getitem__, waiting)
        ]
        self.shard.runner.run(side, self.file, wanted, record, self.shard.should_stop)
        if waiting and self.shard.should_stop():
            return False
        for test in list(waiting):
            record(TestOutcome(test, Observation.MISSING, 0.0, "The runner ended without an outcome for this test."))
        return True

    def _record(self, tree: Tree, outcome: TestOutcome) -> None:
        attempts = self.attempts.setdefault(outcome.id, [])
        attempts.append(
            Attempt(
                tree=tree,
                number=1 + sum(earlier.tree is tree for earlier in attempts),
                observation=outcome.observation,
                duration_s=max(0.0, outcome.duration_s),
                detail=capped(outcome.detail, MESSAGE_CAP),
            )
        )
        expected = tree is Tree.HEAD and self._is_settled(outcome.id)
        self.shard.log.tested(outcome, tree, attempts[-1].number, expected=expected)
        if tree is Tree.HEAD:
            self.operators[outcome.id] = outcome.operators
        if len(attempts) == 1 and self._is_settled(outcome.id):
            self._attach_known_failure(outcome)
            self._publish(outcome.id)

    def _attach_known_failure(self, outcome: TestOutcome) -> None:
        """A pass where base is known to fail is news; a pass where it is known to pass, or to do both, is none."""
        known = self.known.get(outcome.id, ())
        if outcome.observation is Observation.PASSED and all(
            tried.observation is Observation.FAILED for tried in known
        ):
            self.attempts[outcome.id].extend(known)

    def _publish(self, test: str) -> None:
        operators = recordable_operators(self.operators.get(test, ()))
        self.shard.publish(TestResult(id=test, attempts=tuple(self.attempts[test]), operators=operators))


def recordable_operators(names: Iterable[str]) -> tuple[str, ...]:
    """The names within the contract's limits, each once. They come from the process that ran the test."""
    fit = (name for name in dict.fromkeys(names) if 0 < len(name) <= OPERATOR_CAP and storable(name) == name)
    return tuple(islice(fit, OPERATORS_CAP))
