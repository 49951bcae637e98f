"""Nothing that a test says or prints leaves the machine with a secret in it, by whichever way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from relay.contract import Observation
from relay.trail.redaction import HIDDEN, Redactor
from tests.workers.scripted_runner import HEAD, collected
from workers.runner.types import Answer, Collection, RunnerTree, Task, TestOutcome, WantedTest
from workers.shards.discreet_runner import DiscreetRunner

SECRET = "own-token-of-the-worker"
FILE = "test/test_a.py"


@dataclass
class Talkative:
    """A runner whose tests have found the secret."""

    asked: list[str] = field(default_factory=list)

    def probe(self, tree: RunnerTree) -> str:
        return f"probe {SECRET}"

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection:
        return Collection(collected(file, "TestA", "test_a"), f"error {SECRET}")

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.asked += [test.id for test in tests]
        on_outcome(TestOutcome("a", Observation.FAILED, 1.5, f"detail {SECRET}", ("aten::add",), f"output {SECRET}"))
        on_outcome(TestOutcome("b", Observation.PASSED, 0.5))

    def answer(self, tree: RunnerTree, task: Task, should_stop: Callable[[], bool] = lambda: False) -> Answer:
        return Answer(SECRET.encode(), f"answer {SECRET}")

    def run_task(
        self,
        tree: RunnerTree,
        task: Task,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.run(tree, task.file, tests, on_outcome, should_stop)


def test_a_secret_is_in_nothing_that_the_runner_gives() -> None:
    outcomes: list[TestOutcome] = []
    talkative = Talkative()
    runner = DiscreetRunner(talkative, Redactor([SECRET]))
    assert runner.probe(HEAD) == f"probe {HIDDEN}"
    found = runner.collect(HEAD, FILE)
    assert (found.error, len(found.tests)) == (f"error {HIDDEN}", 1)
    task, wanted = Task("models/a", "program", "text"), [WantedTest("a"), WantedTest("b")]
    assert runner.answer(HEAD, task).error == f"answer {HIDDEN}"
    runner.run(HEAD, FILE, wanted, outcomes.append, lambda: False)
    runner.run_task(HEAD, task, wanted, outcomes.append, lambda: False)
    assert talkative.asked == ["a", "b"] * 2
    expected = [
        TestOutcome("a", Observation.FAILED, 1.5, f"detail {HIDDEN}", ("aten::add",), f"output {HIDDEN}"),
        TestOutcome("b", Observation.PASSED, 0.5),
    ]
    assert outcomes == expected * 2
