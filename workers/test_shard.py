"""Running the tests of a shard: which attempts a test gets, on which tree, and when its result is final.

A test that does not end as expected on head is tried once more alone there; if it still does not pass and had to, it is
run on base. All attempts of a test leave together, as one result. What an outcome *means* is the relay's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from relay.contract import MESSAGE_CAP, Attempt, Expected, Observation, TestOrder, TestResult, Tree
from workers.device_runner import DeviceRunner
from workers.report import capped
from workers.runner.types import RunnerTree, TestOutcome, WantedTest

FINE = frozenset({Observation.PASSED, Observation.SKIPPED})

#: More failures than this in one file have a common cause; a process for each costs a torch import apiece (seconds), so
#: they share one.
ALONE_LIMIT = 3


@dataclass(frozen=True, slots=True)
class ShardRun:
    """The running of one test shard. `base` is called only when a failure has to be compared."""

    runner: DeviceRunner
    head: RunnerTree
    base: Callable[[], RunnerTree]
    publish: Callable[[TestResult], None]
    should_stop: Callable[[], bool]
    say: Callable[[str], None]

    def run(self, tests: Sequence[TestOrder]) -> bool:
        """Run file by file. False when a stop was asked for, at a test boundary, before every test had its result."""
        by_file: dict[str, list[TestOrder]] = {}
        for test in tests:
            by_file.setdefault(test.file, []).append(test)
        for number, (file, orders) in enumerate(by_file.items(), start=1):
            if self.should_stop():
                return False
            self.say(f"running {file} ({number} of {len(by_file)})")
            if not _FileRun(self, file, {order.id: order for order in orders}).run():
                return False
        return True


@dataclass(slots=True)
class _FileRun:
    """The attempts at the tests of one file."""

    shard: ShardRun
    file: str
    orders: dict[str, TestOrder]
    attempts: dict[str, list[Attempt]] = field(default_factory=dict)

    def run(self) -> bool:
        if not self._attempt(self.orders, Tree.HEAD):
            return False
        failed = self._unsettled()
        if not all(self._attempt(group, Tree.HEAD) for group in self._retry_groups(failed)):
            return False
        compared = [test for test in self._unsettled() if self.orders[test].expected is Expected.MANDATORY_SUCCESS]
        if compared:
            self.shard.say(f"comparing {self.file} with base")
            if not self._attempt(compared, Tree.BASE):
                return False
        for test in failed:
            self._publish(test)
        return True

    def _unsettled(self) -> list[str]:
        return [test for test in self.attempts if not self._is_settled(test)]

    def _is_settled(self, test: str) -> bool:
        """Whether the last attempt is what was expected, so that another one would tell nothing."""
        last = self.attempts[test][-1].observation
        expected_failure = self.orders[test].expected is not Expected.MANDATORY_SUCCESS and last is Observation.FAILED
        return last in FINE or expected_failure

    def _retry_groups(self, failed: Sequence[str]) -> Iterable[Sequence[str]]:
        """A test that was missing does not become visible by being alone: those go with the last of the others."""
        missing = [test for test in failed if self.attempts[test][-1].observation is Observation.MISSING]
        seen = [test for test in failed if test not in set(missing)]
        *alone, company = [[test] for test in seen] if 0 < len(seen) <= ALONE_LIMIT else [seen]
        return [*alone, company + missing] if failed else []

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
        if len(attempts) == 1 and self._is_settled(outcome.id):
            self._publish(outcome.id)

    def _publish(self, test: str) -> None:
        self.shard.publish(TestResult(id=test, attempts=tuple(self.attempts[test])))
