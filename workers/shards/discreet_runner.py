"""A runner that keeps secrets: everything its tests said or printed passes a redactor before anybody else sees it.

Results, notes, the log and what is remembered of base all come from here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from workers.device_runner import DeviceRunner
from workers.runner.types import Answer, Collection, RunnerTree, Task, TestOutcome, WantedTest


@dataclass(frozen=True, slots=True)
class DiscreetRunner:
    """`runner` with `redact` over its texts. Ids of tests stay as they are: they are names, and known already."""

    runner: DeviceRunner
    redact: Callable[[str], str]

    def probe(self, tree: RunnerTree) -> str:
        return self.redact(self.runner.probe(tree))

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection:
        found = self.runner.collect(tree, file, should_stop)
        return replace(found, error=self.redact(found.error)) if found.error else found

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.runner.run(tree, file, tests, lambda outcome: on_outcome(self._without_secrets(outcome)), should_stop)

    def answer(self, tree: RunnerTree, task: Task, should_stop: Callable[[], bool] = lambda: False) -> Answer:
        """Data stays as it is: it is for the next task, and nobody else sees it."""
        made = self.runner.answer(tree, task, should_stop)
        return replace(made, error=self.redact(made.error)) if made.error else made

    def run_task(
        self,
        tree: RunnerTree,
        task: Task,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.runner.run_task(tree, task, tests, lambda outcome: on_outcome(self._without_secrets(outcome)), should_stop)

    def _without_secrets(self, outcome: TestOutcome) -> TestOutcome:
        if not (outcome.detail or outcome.output):
            return outcome
        return replace(outcome, detail=self.redact(outcome.detail), output=self.redact(outcome.output))
