"""Whole models beside files: a runner that gives the tests of a model check to the program that runs models.

A model is no file of a tree. What stands for its file in ids is in a lease with its check, or the manifests have it no
more; then its tests are missing, which is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from relay.contract import ModelOrder, Observation
from selector.manifests.models import ModelCheck, is_model_file
from workers.device_runner import DeviceRunner
from workers.models.references import References
from workers.models.running import ModelRun, run_model
from workers.runner.types import Answer, Collection, RunnerTree, Task, TestOutcome, WantedTest

_GONE = "The manifests do not describe this model any more; rerun the change, so that it is planned anew."


class UnknownCheckError(Exception):
    """The relay describes a model in a way that this worker does not know."""


def checks_of(orders: Sequence[ModelOrder]) -> dict[str, ModelCheck]:
    """The models of a lease by what stands for their files. Raises `UnknownCheckError`."""
    return {order.file: _check(order) for order in orders}


def _check(order: ModelOrder) -> ModelCheck:
    try:
        return ModelCheck.from_json(order.check)
    except ValueError as error:
        raise UnknownCheckError(
            f"The relay describes {order.file} in a way that this worker does not know ({error}); relay and worker "
            "differ in version. Bring both to the same one."
        ) from error


@dataclass(frozen=True, slots=True)
class ModelRunner:
    """`runner` for files, and models by their checks. `references` are the CPU's answers on this base, which is asked
    for only when one is not kept."""

    runner: DeviceRunner
    models: Mapping[str, ModelCheck]
    references: References
    base: Callable[[], RunnerTree]

    def probe(self, tree: RunnerTree) -> str:
        return self.runner.probe(tree)

    def collect(self, tree: RunnerTree, file: str, should_stop: Callable[[], bool] = lambda: False) -> Collection:
        return self.runner.collect(tree, file, should_stop)

    def answer(self, tree: RunnerTree, task: Task, should_stop: Callable[[], bool] = lambda: False) -> Answer:
        return self.runner.answer(tree, task, should_stop)

    def run_task(
        self,
        tree: RunnerTree,
        task: Task,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        self.runner.run_task(tree, task, tests, on_outcome, should_stop)

    def run(
        self,
        tree: RunnerTree,
        file: str,
        tests: Sequence[WantedTest],
        on_outcome: Callable[[TestOutcome], None],
        should_stop: Callable[[], bool],
    ) -> None:
        if not is_model_file(file):
            self.runner.run(tree, file, tests, on_outcome, should_stop)
        elif (check := self.models.get(file)) is not None:
            model = ModelRun(check, self.references, self.base)
            run_model(self.runner, tree, model, tests, on_outcome=on_outcome, should_stop=should_stop)
        else:
            for test in tests:
                on_outcome(TestOutcome(test.id, Observation.MISSING, 0.0, _GONE))
