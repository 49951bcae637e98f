"""Runs the tests of a model check on one side of a change, beside the tests of files and with the same promises.

The CPU's answer comes from the base, whichever side is looked at: a change that spoils the CPU and the device alike
would otherwise agree with itself.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from relay.contract import Observation
from selector.manifests.models import ModelCheck
from workers.models.references import References
from workers.runner.types import Answer, RunnerTree, Task, TestOutcome, WantedTest

_PROGRAM = "workers.models.child.program"


class TaskRunner(Protocol):
    """What is needed of a runner; see `workers.runner.runner.Runner`."""

    def answer(self, tree: RunnerTree, task: Task, should_stop: Callable[[], bool] = lambda: False) -> Answer: ...

    def run_task(
        self,
        tree: RunnerTree,
        task: Task,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelRun:
    """A check, and where the CPU's answer to it comes from: what is kept, else `base`, which is called only then."""

    check: ModelCheck
    references: References
    base: Callable[[], RunnerTree]


def run_model(
    runner: TaskRunner,
    tree: RunnerTree,
    model: ModelRun,
    tests: Sequence[WantedTest],
    *,
    on_outcome: Callable[[TestOutcome], None],
    should_stop: Callable[[], bool],
) -> None:
    """Run `tests` of a check on the device with torch from `tree`; as `Runner.run`, `on_outcome` gets one outcome for
    each id unless a stop comes first. Where the CPU itself has no answer all of them fail, and say why."""
    found = _reference(runner, model, should_stop)
    if should_stop():
        return
    if found.error:
        detail = f"the CPU has no answer on base: {found.error}"
        for test in dict.fromkeys(one.id for one in tests):
            on_outcome(TestOutcome(test, Observation.FAILED, 0.0, detail))
        return
    runner.run_task(tree, _task(model.check, found.data), tests, on_outcome, should_stop)


def _reference(runner: TaskRunner, model: ModelRun, should_stop: Callable[[], bool]) -> Answer:
    kept = model.references.load(model.check)
    if kept is not None:
        return Answer(kept)
    made = runner.answer(model.base(), _task(model.check, b""), should_stop)
    if not made.error:
        model.references.save(model.check, made.data)
    return made


def _task(check: ModelCheck, reference: bytes) -> Task:
    text = json.dumps({"check": check.as_json(), "reference": base64.b64encode(reference).decode()})
    return Task(check.file, _PROGRAM, text)
